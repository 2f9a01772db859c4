# frozen_string_literal: true

# The routes of the contract `web`.
Rails.application.routes.draw do
  get "plaintext", to: "greetings#plaintext"
  get "json", to: "greetings#json"
  get "db", to: "rows#show"
  get "queries", to: "rows#index"
  get "updates", to: "rows#update"
  get "cached", to: "rows#cached"
  get "fortunes", to: "fortunes#index"
  post "login", to: "sessions#create"
  resources :items, only: %i[index create]
end
