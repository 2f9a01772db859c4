# frozen_string_literal: true

# The page.
class FortunesController < ActionController::Base
  layout "application"

  def index
    added = Fortune.new(id: Contract::ADDED_ID, message: Contract::ADDED_MESSAGE)
    # Strings compare by bytes, which in UTF-8 is the order of code points.
    @fortunes = [*Fortune.all, added].sort_by(&:message)
  end
end
