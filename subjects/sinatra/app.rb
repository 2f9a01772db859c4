# frozen_string_literal: true

# The contract `web` in Sinatra: a classic application, with a page by its templates.

require "json"
require "sinatra"

require_relative "shared/web-ruby/contract"
require_relative "store"

set :store, Store.new
set :erb, escape_html: true
disable :logging if ENV["TUNED"]

helpers do
  def told(value)
    content_type :json
    JSON.generate(value)
  end

  def said
    JSON.parse(request.body.read)
  end

  # Whose token it is; nobody gets further.
  def known
    token = request.env["HTTP_AUTHORIZATION"].to_s.delete_prefix("Bearer ")
    settings.store.account(token) or halt 401
  end
end

get "/plaintext" do
  content_type :text
  Contract::GREETING
end

get "/json" do
  told(message: Contract::GREETING)
end

get "/db" do
  told(settings.store.row(Integer(params["id"])))
end

get "/queries" do
  told(settings.store.rows(Contract.ids(params)))
end

get "/updates" do
  told(settings.store.change(Contract.changes(params)))
end

get "/cached" do
  told(settings.store.cached(Contract.ids(params)))
end

get "/fortunes" do
  added = { "id" => Contract::ADDED_ID, "message" => Contract::ADDED_MESSAGE }
  # Strings compare by bytes, which in UTF-8 is the order of code points.
  erb :fortunes, locals: { fortunes: [*settings.store.fortunes, added].sort_by { |one| one["message"] } }
end

post "/login" do
  token = settings.store.login(*said.values_at("name", "password")) or halt 401
  told(token: token)
end

get "/items" do
  told(settings.store.items(known))
end

post "/items" do
  account = known
  status 201
  told(settings.store.add(account, said["text"]))
end
