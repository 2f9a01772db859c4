# frozen_string_literal: true

# `session`: its key, the token, is made by the database.
class Session < ApplicationRecord
end
