# frozen_string_literal: true

# Items of the account whose token a request has.
class ItemsController < ApplicationController
  include ActionController::HttpAuthentication::Token::ControllerMethods

  before_action :authenticate

  def index
    render json: Item.newest(@account)
  end

  def create
    made = Item.create!(account: @account, text: params.require(:text))
    render json: made.slice(:id, :text), status: :created
  end

  private

  def authenticate
    @account = authenticate_or_request_with_http_token do |token|
      Session.find_by(token: token)&.account
    end
  end
end
