# frozen_string_literal: true

# Replies without a database.
class GreetingsController < ApplicationController
  def plaintext
    render plain: Contract::GREETING
  end

  def json
    render json: { message: Contract::GREETING }
  end
end
