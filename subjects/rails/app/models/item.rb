# frozen_string_literal: true

# `item`.
class Item < ApplicationRecord
  # The newest items of an account.
  scope :newest, ->(account) { where(account: account).order(id: :desc).limit(20).select(:id, :text) }
end
