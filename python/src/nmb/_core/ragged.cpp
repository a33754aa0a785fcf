// read_ragged(): variables of many blocks, one after the other in one array each.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "arrays.h"
#include "errors.h"
#include "found_blocks.h"
#include "handles.h"
#include "text.h"

namespace nmb_python {

namespace {

// The variables of one name in all blocks. Along `axis`, blocks may differ. For each index of the
// dimensions before it, the values of a block lie side by side in the result: a part.
struct RaggedColumn {
  std::string name;
  std::size_t axis = 0;
  std::vector<nmb::VarView> vars{};
  std::vector<std::uint64_t> rows{};   // of each block, along the axis
  std::vector<std::uint64_t> shape{};  // of the first block, then of the result
  std::shared_ptr<const NumpyType> type{};
  NewArray values{};
  std::uint64_t parts = 1;                // of each block
  std::uint64_t row_elements = 1;         // in a part
  std::uint64_t row_bytes = 0;            // of them, in the library's memory
  std::vector<nmb::Elements> elements{};  // of each block and part, if the type has objects

  std::uint64_t bytes(std::size_t block) const { return rows[block] * row_bytes * parts; }
  // The hyperslab of a part, for a request; all values if there is one part.
  nmb::Hyperslab slab(std::size_t block, std::uint64_t part) const {
    nmb::Hyperslab out;
    if (parts == 1) return out;
    out.start.assign(shape.size(), 0);
    out.count = shape;
    out.count[axis] = rows[block];
    for (std::size_t d = axis; d-- > 0; part /= shape[d]) {
      out.start[d] = part % shape[d];
      out.count[d] = 1;
    }
    return out;
  }
};

[[noreturn]] void refuse(const std::string& text) {
  need(nmb::Status(nmb::Code::kUsage, text));
  throw nb::python_error();  // not reached
}

// Sets *sum to a * b + c. Fails if the numbers of a damaged file do not fit.
void multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t* sum) {
  if (__builtin_mul_overflow(a, b, sum) || __builtin_add_overflow(*sum, c, sum))
    need(nmb::Status(nmb::Code::kLimit, "the values of all blocks do not fit in memory"));
}

// Compares the blocks, and computes the shape of the result. Returns the offsets of each block.
// numbers: for each block, its number in `blocks`.
nb::object prepare(RaggedColumn& column, const FoundBlocks& blocks,
                   std::span<const std::size_t> numbers,
                   const std::vector<std::vector<std::uint64_t>>& shapes) {
  column.type = numpy_type_of(column.vars.front());
  const std::vector<std::uint64_t>& first = shapes.front();
  column.shape = first;
  if (column.shape.empty()) column.shape = {1};  // a single value is a row
  if (column.axis >= column.shape.size())
    refuse("variable \"" + column.name + "\" has " + std::to_string(first.size()) +
           " dimensions, no axis " + std::to_string(column.axis));
  const NewArray offsets =
      new_array(dtype_of('i', 8), std::vector<std::uint64_t>{shapes.size() + 1});
  auto* const offset = reinterpret_cast<std::int64_t*>(offsets.data);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<std::uint64_t>& shape = shapes[i];
    const auto differs = [&](const char* what) {
      refuse("variable \"" + column.name + "\" has another " + what + " in block \"" +
             blocks[numbers[i]].view.name() + "\" than in block \"" +
             blocks[numbers[0]].view.name() + "\"");
    };
    const std::shared_ptr<const NumpyType> type = numpy_type_of(column.vars[i]);
    if (type != column.type && type->type() != column.type->type()) differs("type");
    if (shape.size() != first.size()) differs("number of dimensions");
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != column.axis && shape[d] != first[d])
        differs(("length of dimension " + std::to_string(d)).c_str());
    offset[i] = static_cast<std::int64_t>(total);
    column.rows[i] = shape.empty() ? 1 : shape[column.axis];
    multiply_add(column.rows[i], 1, total, &total);
  }
  offset[shapes.size()] = static_cast<std::int64_t>(total);
  for (std::size_t d = 0; d < column.shape.size(); ++d) {
    if (d < column.axis) multiply_add(column.parts, column.shape[d], 0, &column.parts);
    if (d > column.axis)
      multiply_add(column.row_elements, column.shape[d], 0, &column.row_elements);
  }
  multiply_add(column.row_elements, column.type->type().size, 0, &column.row_bytes);
  std::uint64_t bytes = 0;
  multiply_add(total, column.row_bytes, 0, &bytes);
  multiply_add(bytes, column.parts, 0, &bytes);
  column.shape[column.axis] = total;
  if (column.type->has_objects()) column.elements.resize(shapes.size() * column.parts);
  return offsets.array;
}

// Reads the variables of all blocks. Each thread takes some blocks at a time, whose values are read
// with few reads of the file.
void read_columns(const FileHandle& file, std::vector<RaggedColumn>& columns,
                  const FoundBlocks& blocks, std::span<const std::size_t> numbers,
                  unsigned threads) {
  constexpr std::uint64_t kTaskBytes = 256 << 10;
  const std::size_t count = columns.front().vars.size();
  std::vector<std::size_t> tasks{0};
  std::vector<std::vector<std::uint64_t>> begins(columns.size());  // of each block, in a part
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    begins[c].push_back(0);
    for (const std::uint64_t rows : columns[c].rows)
      begins[c].push_back(begins[c].back() + rows * columns[c].row_bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const RaggedColumn& column : columns) bytes += column.bytes(i);
    if (bytes < kTaskBytes && i + 1 < count) continue;
    tasks.push_back(i + 1);
    bytes = 0;
  }
  std::vector<nmb::Status> statuses(tasks.size() - 1);
  std::vector<std::string> failed(statuses.size());  // the full name of the variable
  {
    nb::gil_scoped_release unlocked;
    on_threads(threads, statuses.size(), [&](std::size_t task) {
      statuses[task] = nmb::caught([&] {
        std::vector<nmb::ElementRequest> requests;
        requests.reserve((tasks[task + 1] - tasks[task]) * columns.size());
        for (std::size_t i = tasks[task]; i < tasks[task + 1]; ++i)
          for (std::size_t c = 0; c < columns.size(); ++c) {
            RaggedColumn& column = columns[c];
            const std::uint64_t size = column.rows[i] * column.row_bytes;
            for (std::uint64_t part = 0; part < column.parts; ++part) {
              nmb::ElementRequest& request = requests.emplace_back();
              request.var = column.vars[i];
              request.slab = column.slab(i, part);
              if (column.type->has_objects()) {
                nmb::Elements& elements = column.elements[i * column.parts + part];
                elements.values.resize(size);
                request.out = elements.values;
                request.heap = &elements.heap;
              } else {
                request.out = {column.values.data + part * begins[c].back() + begins[c][i], size};
              }
            }
          }
        nmb::Status all = file.reader.try_read_elements(requests);
        if (all.ok()) return all;
        // Reads again to find out whose values these are.
        std::vector<nmb::Status> each(requests.size());
        (void)file.reader.try_read_elements(requests, each);
        auto status = each.begin();
        for (std::size_t i = tasks[task]; i < tasks[task + 1]; ++i)
          for (const RaggedColumn& column : columns)
            for (std::uint64_t part = 0; part < column.parts; ++part, ++status)
              if (!status->ok()) {
                failed[task] = full_name(blocks[numbers[i]].view.name(), column.name);
                return *status;
              }
        return all;
      });
    });
  }
  for (std::size_t i = 0; i < statuses.size(); ++i) need(statuses[i], failed[i]);
  for (RaggedColumn& column : columns) {
    if (!column.type->has_objects()) continue;
    std::uint64_t total = 1;
    for (const std::uint64_t length : column.shape) total *= length;
    const std::uint64_t size = total == 0 ? 0 : column.values.bytes / total;
    std::byte* at = column.values.data;
    for (std::uint64_t part = 0; part < column.parts; ++part)
      for (std::size_t i = 0; i < count; ++i) {
        nmb::Elements& elements = column.elements[i * column.parts + part];
        const std::uint64_t number = column.rows[i] * column.row_elements;
        column.type->place(elements, number, at);
        elements = {};
        at += number * size;
      }
  }
}

// Makes the arrays of the results; or takes those that allocate([(dtype, shape), ...]) returns.
void allocate_values(std::vector<RaggedColumn>& columns, nb::handle allocate) {
  if (allocate.is_none()) {
    for (RaggedColumn& column : columns)
      column.values = new_array(column.type->dtype(), column.shape);
    return;
  }
  nb::list wanted;
  for (const RaggedColumn& column : columns) {
    nb::list shape;
    for (const std::uint64_t length : column.shape) shape.append(length);
    wanted.append(nb::make_tuple(column.type->dtype(), nb::tuple(shape)));
  }
  const nb::list arrays = nb::borrow<nb::list>(allocate(wanted));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    RaggedColumn& column = columns[c];
    const nb::object array = arrays[c];
    const std::span<std::byte> memory = memory_of(array, column.type->dtype(), column.shape);
    column.values = {array, memory.data(), memory.size()};
  }
}

// Returns a list of (values, offsets), one for each of the names.
// axes: for each name, the number of the dimension in which blocks may differ.
nb::list read_ragged(const std::shared_ptr<FileHandle>& file, nb::list names, nb::list axes,
                     nb::list wanted, unsigned threads, nb::handle allocate) {
  std::vector<RaggedColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i)
    columns.push_back({from_text(names[i]), nb::cast<std::size_t>(axes[i])});
  FoundBlocks blocks(file);
  std::vector<std::size_t> numbers;
  for (nb::handle block : wanted) numbers.push_back(blocks.add(block));
  // FoundBlocks unites successive equal names; here, each one counts.
  const std::size_t count = numbers.size();
  if (columns.empty()) return {};
  if (count == 0) refuse("read_ragged() needs at least one block");
  std::vector<std::vector<std::vector<std::uint64_t>>> shapes(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].vars.resize(count);
    columns[c].rows.resize(count);
    shapes[c].resize(count);
  }
  std::vector<std::vector<std::size_t>> of_block(blocks.size());
  for (std::size_t i = 0; i < count; ++i) of_block[numbers[i]].push_back(i);
  blocks.load(threads, [&](std::size_t b, const nmb::BlockView& view) -> nmb::Status {
    nmb::Result<nmb::ShownBlock> shown = nmb::ShownBlock();
    if (!view.is_classic()) shown = view.try_shown();
    if (!shown.ok()) return shown.status();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      nmb::Result<nmb::VarView> var = try_shown_var(view, *shown, columns[c].name);
      if (!var.ok()) return var.status();
      nmb::Result<std::vector<std::uint64_t>> shape = var->try_shape();
      if (!shape.ok()) return shape.status();
      for (const std::size_t i : of_block[b]) {
        columns[c].vars[i] = *var;
        shapes[c][i] = *shape;
      }
    }
    return {};
  });
  std::vector<nb::object> offsets;
  for (std::size_t c = 0; c < columns.size(); ++c)
    offsets.push_back(prepare(columns[c], blocks, numbers, shapes[c]));
  allocate_values(columns, allocate);
  nb::list out;
  for (std::size_t c = 0; c < columns.size(); ++c)
    out.append(nb::make_tuple(columns[c].values.array, offsets[c]));
  read_columns(*file, columns, blocks, numbers, threads);
  return out;
}

}  // namespace

void bind_ragged(nb::module_& module) {
  module.def("read_ragged", &read_ragged, nb::arg("file"), nb::arg("names"), nb::arg("axes"),
             nb::arg("blocks"), nb::arg("threads"), nb::arg("allocate").none());
}

}  // namespace nmb_python
