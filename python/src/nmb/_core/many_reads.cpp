#include "many_reads.h"

#include <utility>

#include "errors.h"

namespace nmb_python {

void ManyReads::add(nmb::VarView var, std::vector<std::uint64_t> shape, std::string name,
                    std::optional<nmb::Hyperslab> slab, nb::handle out) {
  std::shared_ptr<const NumpyType> type = numpy_type_of(var);
  if (slab) shape.assign(slab->count.begin(), slab->count.end());
  Item item{std::move(var), type, std::move(shape), std::move(name), std::move(slab), {}, {}, {}};
  if (out.is_none()) {
    const NewArray made = new_array(type->dtype(), item.shape);
    item.array = made.array;
    item.memory = {made.data, made.bytes};
  } else {
    item.array = nb::borrow(out);
    item.memory = memory_of(out, type->dtype(), item.shape);
  }
  if (type->has_objects()) {
    std::uint64_t bytes = type->type().size;
    for (const std::uint64_t length : item.shape)
      if (__builtin_mul_overflow(bytes, length, &bytes)) throw std::bad_alloc();
    item.elements = std::make_unique<nmb::Elements>();
    item.elements->values.resize(bytes);
  }
  items_.push_back(std::move(item));
}

void ManyReads::run(const nmb::Reader& reader, unsigned threads) {
  std::vector<nmb::ElementRequest> requests;
  requests.reserve(items_.size());
  for (Item& item : items_) {
    nmb::ElementRequest& request = requests.emplace_back();
    request.var = std::move(item.var);
    if (item.slab) request.slab = *std::move(item.slab);
    request.out = item.elements ? std::span<std::byte>(item.elements->values) : item.memory;
    if (item.elements) request.heap = &item.elements->heap;
  }
  std::vector<nmb::Status> statuses(requests.size());
  const nmb::Status all = [&] {
    nb::gil_scoped_release unlocked;
    return reader.try_read_elements(requests, statuses, threads);
  }();
  if (!all.ok()) {
    for (std::size_t i = 0; i < statuses.size(); ++i) need(statuses[i], items_[i].name);
    need(all);
  }
  for (const Item& item : items_)
    if (item.elements)
      item.type->place(*item.elements, item.elements->values.size() / item.type->type().size,
                       item.memory.data());
}

}  // namespace nmb_python
