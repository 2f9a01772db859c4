# frozen_string_literal: true

# `fortune`.
class Fortune < ApplicationRecord
end
