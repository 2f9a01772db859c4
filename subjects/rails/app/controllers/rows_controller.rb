# frozen_string_literal: true

# Rows of `world`, read and changed, and of `cached_world`.
class RowsController < ApplicationController
  def show
    render json: World.find(params[:id])
  end

  def index
    render json: Contract.ids(params).map { |id| World.find(id) }
  end

  def update
    changes = Contract.changes(params)
    found = changes.map { |id, _| World.find(id) }
    World.transaction do
      found.zip(changes) { |row, (_, number)| row.update!(number: number) }
    end
    render json: found
  end

  def cached
    render json: CachedWorld.kept.values_at(*Contract.ids(params))
  end
end
