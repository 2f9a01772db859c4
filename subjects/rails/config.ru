# frozen_string_literal: true

# What Puma serves.

require_relative "config/application"

Rails.application.initialize!
run Rails.application
