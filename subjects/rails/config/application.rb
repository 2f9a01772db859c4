# frozen_string_literal: true

# The contract `web` in Rails: its settings, with only the railties that it needs.

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "securerandom"

require_relative "../shared/web-ruby/contract"

module WebTrial
  class Application < Rails::Application
    config.load_defaults 6.1
    config.api_only = true

    # As the generated config/environments/production.rb has it, with the log on the standard output.
    config.cache_classes = true
    config.eager_load = true
    config.consider_all_requests_local = false
    config.public_file_server.enabled = false
    config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stdout))
    config.log_level = ENV["TUNED"] ? :warn : :info
    config.log_tags = [:request_id]

    # Tables have the names of the contract.
    config.active_record.pluralize_table_names = false
    # It signs and encrypts nothing that outlives a start.
    config.secret_key_base = SecureRandom.hex(64)
  end
end
