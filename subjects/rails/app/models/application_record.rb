# frozen_string_literal: true

# What all models have in common.
class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
