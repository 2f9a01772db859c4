# frozen_string_literal: true

# What Puma serves: the classic application of app.rb.

require_relative "app"

run Sinatra::Application
