# frozen_string_literal: true

# Logins.
class SessionsController < ApplicationController
  def create
    account = Account.known(params.require(:name), params.require(:password))
    return head :unauthorized unless account

    render json: { token: Session.create!(account: account.id).token }
  end
end
