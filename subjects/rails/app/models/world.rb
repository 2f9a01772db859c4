# frozen_string_literal: true

# `world`.
class World < ApplicationRecord
end
