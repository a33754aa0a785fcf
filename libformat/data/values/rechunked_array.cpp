#include "values/rechunked_array.h"

#include <memory>
#include <utility>

#include "values/chunk_filters.h"
#include "values/open_array.h"

namespace nmb {

Result<RechunkedArray> RechunkedArray::open(const Dataset& dataset, VarId variable,
                                            std::span<const hdf5::Property> properties,
                                            ChunkGrid::Lengths chunk, std::uint64_t cache_bytes) {
  const Metadata& metadata = dataset.metadata;
  const Extension* const extension = metadata.extension().get();
  const Storage* const storage = extension ? extension->storage_of(variable) : nullptr;
  NMB_ASSIGN(const VariableShape shape,
             find_shape(metadata, dataset.layout, variable, dataset.records));
  RechunkedArray out;
  NMB_ASSIGN(out.grid_, ChunkGrid::make(shape.lengths, std::move(chunk), shape.element_size));
  out.fill_ = extension ? unstored_value(properties, variable, shape.element_size)
                        : fill_value(metadata, variable);
  out.is_hole_ = storage && storage->kind == StorageKind::kNone;
  if (out.grid_.count() == 0 || out.is_hole_) return out;

  const ChunkGrid& grid = out.grid_;
  bool takes_whole_chunks = storage && storage->kind == StorageKind::kChunked;
  for (std::size_t i = 0; takes_whole_chunks && i < grid.chunk().size(); ++i)
    takes_whole_chunks =
        grid.chunk()[i] >= grid.lengths()[i] || grid.chunk()[i] % storage->chunk[i] == 0;
  if (takes_whole_chunks) {
    NMB_TRY(check_filters(storage->filters));
    NMB_ASSIGN(Source region, range_of(dataset.extent, metadata.begin(variable),
                                       storage->region_length, "chunks"));
    BoxInChunks& box = out.stored_.emplace();
    box.first.assign(grid.lengths().size(), 0);
    NMB_ASSIGN(box.grid, ChunkGrid::make(shape.lengths, storage->chunk, shape.element_size));
    box.fill = out.fill_;
    box.table = std::make_shared<const ChunkTable>(std::move(region), *storage, shape.element_size);
    return out;
  }
  NMB_ASSIGN(out.array_, contiguous_array(dataset, variable, properties,
                                          std::make_shared<ChunkCache>(cache_bytes)));
  return out;
}

Result<std::vector<std::byte>> RechunkedArray::chunk(std::uint64_t number) const {
  if (is_hole_) return std::vector<std::byte>();
  if (stored_ && stored_->grid.chunk() == grid_.chunk()) return stored_->table->load(number);
  GatheredChunk chunk(grid_, number, fill_);
  if (stored_)
    NMB_TRY(chunk.add(*stored_).status());
  else
    NMB_TRY(chunk.add(*array_));
  return chunk.take();
}

}  // namespace nmb
