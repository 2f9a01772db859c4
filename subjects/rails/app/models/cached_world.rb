# frozen_string_literal: true

# `cached_world`.
class CachedWorld < ApplicationRecord
  # What replies say of each row, by its id: the table is read once by each process.
  def self.kept
    @kept ||= all.as_json.index_by { |row| row["id"] }
  end
end
