# frozen_string_literal: true

# What all controllers of JSON have in common.
class ApplicationController < ActionController::API
end
