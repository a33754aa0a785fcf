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

// The variables of one name in all blocks.
struct RaggedColumn {
  std::string name;
  std::vector<nmb::VarView> vars;
  std::vector<std::uint64_t> rows;  // of each block
  std::vector<std::uint64_t> row_shape;
  std::shared_ptr<const NumpyType> type{};
  NewArray values{};
  std::uint64_t row_elements = 1;
  std::uint64_t row_bytes = 0;            // in the library's memory
  std::vector<nmb::Elements> elements{};  // of each block, if the type has objects
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

// Compares the blocks, and makes the arrays. Returns the offsets of each block. numbers: for each
// block, its number in `blocks`.
nb::object prepare(RaggedColumn& column, const FoundBlocks& blocks,
                   std::span<const std::size_t> numbers,
                   const std::vector<std::vector<std::uint64_t>>& shapes) {
  column.type = numpy_type_of(column.vars.front());
  const std::vector<std::uint64_t>& first = shapes.front();
  if (!first.empty()) column.row_shape.assign(first.begin() + 1, first.end());
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
    if (numpy_type_of(column.vars[i]) != column.type) differs("type");
    if (shape.size() != first.size() ||
        (!shape.empty() && !std::equal(shape.begin() + 1, shape.end(), column.row_shape.begin())))
      differs("shape after the first dimension");
    offset[i] = static_cast<std::int64_t>(total);
    column.rows[i] = shape.empty() ? 1 : shape[0];
    multiply_add(column.rows[i], 1, total, &total);
  }
  offset[shapes.size()] = static_cast<std::int64_t>(total);
  std::vector<std::uint64_t> shape{total};
  shape.insert(shape.end(), column.row_shape.begin(), column.row_shape.end());
  for (const std::uint64_t length : column.row_shape)
    multiply_add(column.row_elements, length, 0, &column.row_elements);
  multiply_add(column.row_elements, column.type->type().size, 0, &column.row_bytes);
  std::uint64_t bytes = 0;
  multiply_add(total, column.row_bytes, 0, &bytes);
  column.values = new_array(column.type->dtype(), shape);
  if (column.type->has_objects()) column.elements.resize(shapes.size());
  return offsets.array;
}

// Reads the variables of all blocks. Each thread takes some blocks at a time, whose values are read
// with few reads of the file.
void read_columns(const FileHandle& file, std::vector<RaggedColumn>& columns, unsigned threads) {
  constexpr std::uint64_t kPartBytes = 256 << 10;
  const std::size_t count = columns.front().vars.size();
  std::vector<std::size_t> parts{0};
  std::vector<std::vector<std::byte*>> places(columns.size());
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].type->has_objects()) continue;
    std::byte* at = columns[c].values.data;
    for (const std::uint64_t rows : columns[c].rows) {
      places[c].push_back(at);
      at += rows * columns[c].row_bytes;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const RaggedColumn& column : columns) bytes += column.rows[i] * column.row_bytes;
    if (bytes < kPartBytes && i + 1 < count) continue;
    parts.push_back(i + 1);
    bytes = 0;
  }
  std::vector<nmb::Status> statuses(parts.size() - 1);
  {
    nb::gil_scoped_release unlocked;
    on_threads(threads, statuses.size(), [&](std::size_t part) {
      statuses[part] = nmb::caught([&] {
        std::vector<nmb::ElementRequest> requests;
        requests.reserve((parts[part + 1] - parts[part]) * columns.size());
        for (std::size_t i = parts[part]; i < parts[part + 1]; ++i)
          for (std::size_t c = 0; c < columns.size(); ++c) {
            RaggedColumn& column = columns[c];
            nmb::ElementRequest& request = requests.emplace_back();
            request.var = std::move(column.vars[i]);
            const std::uint64_t bytes = column.rows[i] * column.row_bytes;
            if (column.type->has_objects()) {
              column.elements[i].values.resize(bytes);
              request.out = column.elements[i].values;
              request.heap = &column.elements[i].heap;
            } else {
              request.out = {places[c][i], bytes};
            }
          }
        return file.reader.try_read_elements(requests);
      });
    });
  }
  for (const nmb::Status& status : statuses) need(status);
  for (RaggedColumn& column : columns) {
    if (!column.type->has_objects()) continue;
    const std::uint64_t total =
        std::accumulate(column.rows.begin(), column.rows.end(), std::uint64_t{0}) *
        column.row_elements;
    const std::uint64_t size = total == 0 ? 0 : column.values.bytes / total;
    std::byte* at = column.values.data;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t elements = column.rows[i] * column.row_elements;
      column.type->place(column.elements[i], elements, at);
      column.elements[i] = {};
      at += elements * size;
    }
  }
}

// Returns a list of (values, offsets), one for each of the names.
nb::list read_ragged(const std::shared_ptr<FileHandle>& file, nb::list names, nb::list wanted,
                     unsigned threads) {
  std::vector<RaggedColumn> columns;
  for (nb::handle name : names) columns.push_back({from_text(name), {}, {}, {}, {}, {}});
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
    for (std::size_t c = 0; c < columns.size(); ++c) {
      nmb::Result<nmb::VarView> var = view.try_var(columns[c].name);
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
  nb::list out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const nb::object offsets = prepare(columns[c], blocks, numbers, shapes[c]);
    out.append(nb::make_tuple(columns[c].values.array, offsets));
  }
  read_columns(*file, columns, threads);
  return out;
}

}  // namespace

void bind_ragged(nb::module_& module) { module.def("read_ragged", &read_ragged); }

}  // namespace nmb_python
