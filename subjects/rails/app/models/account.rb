# frozen_string_literal: true

# `account`.
class Account < ApplicationRecord
  LOGIN = <<~SQL
    SELECT id FROM account WHERE name = $1 AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')
  SQL

  # The account with this name and password; nil if they do not match.
  def self.known(name, password)
    find_by_sql(LOGIN, [name, password], preparable: true).first
  end
end
