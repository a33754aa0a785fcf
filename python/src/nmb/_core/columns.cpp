// compare_variables(): what the variables of one name are in many blocks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <cstring>
#include <optional>
#include <utility>

#include "arrays.h"
#include "errors.h"
#include "found_blocks.h"
#include "handles.h"
#include "text.h"

namespace nmb_python {

namespace {

// The definition of a variable as netCDF programs see it, without values.
struct Definition {
  nmb::DataType type{};
  std::vector<std::uint64_t> shape{};
  std::vector<std::string> dims{};
  struct Attribute {
    std::string name;
    nmb::DataType type;
    std::vector<std::uint64_t> shape;
    nmb::Elements elements;
  };
  std::vector<Attribute> atts{};

  bool differs_in_lengths_only(const Definition& other) const {
    const auto same = [](const Attribute& a, const Attribute& b) {
      return a.name == b.name && a.shape == b.shape && a.elements.values == b.elements.values &&
             a.elements.heap == b.elements.heap && a.type == b.type;
    };
    return type == other.type && dims == other.dims &&
           std::equal(atts.begin(), atts.end(), other.atts.begin(), other.atts.end(), same);
  }
};

nmb::Status define(const nmb::VarView& var, std::vector<std::string> dims,
                   const std::vector<nmb::AttView>& atts, Definition* out) {
  nmb::Result<nmb::DataType> type = var.try_datatype();
  if (!type.ok()) return type.status();
  nmb::Result<std::vector<std::uint64_t>> shape = var.try_shape();
  if (!shape.ok()) return shape.status();
  *out = {*std::move(type), *std::move(shape), std::move(dims), {}};
  for (const nmb::AttView& att : atts) {
    nmb::Result<nmb::DataType> of = att.try_datatype();
    if (!of.ok()) return of.status();
    nmb::Result<nmb::Elements> elements = att.try_elements();
    if (!elements.ok()) return elements.status();
    out->atts.push_back({att.name(), *std::move(of), att.shape(), *std::move(elements)});
  }
  return {};
}

// shown: the definitions of a block that is not classic.
nmb::Status define(const nmb::BlockView& block, const std::optional<nmb::ShownBlock>& shown,
                   const std::string& name, Definition* out) {
  if (shown)
    for (const nmb::ShownVariable& variable : shown->vars) {
      if (variable.name != name) continue;
      std::vector<std::string> dims;
      for (const std::uint32_t dim : variable.dims) dims.push_back(shown->dims[dim].name);
      return define(variable.var, std::move(dims), variable.atts, out);
    }
  const nmb::Result<nmb::VarView> var = block.try_var(name);
  if (!var.ok()) return var.status();
  return define(*var, var->dims(), var->atts(), out);
}

// Returns for each name the shapes in all blocks, as an array with a row for each block, and the
// numbers of the blocks where something else than the lengths differs from the first block; their
// rows are not set.
nb::list compare_variables(const std::shared_ptr<FileHandle>& file, nb::list names, nb::list wanted,
                           unsigned threads) {
  std::vector<std::string> columns;
  for (const nb::handle name : names) columns.push_back(from_text(name));
  FoundBlocks first(file), all(file);
  for (const nb::handle block : wanted) all.add(block);
  first.add(wanted[0]);
  std::vector<Definition> expected(columns.size());
  std::vector<NewArray> shapes(columns.size());
  std::vector<std::vector<char>> differs(columns.size());
  const auto definitions = [&](const nmb::BlockView& block, auto then) -> nmb::Status {
    std::optional<nmb::ShownBlock> shown;
    if (!block.is_classic()) {
      nmb::Result<nmb::ShownBlock> found = block.try_shown();
      if (!found.ok()) return found.status();
      shown = *std::move(found);
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Definition found;
      if (nmb::Status status = define(block, shown, columns[c], &found); !status.ok())
        return status;
      then(c, std::move(found));
    }
    return {};
  };
  first.load(1, [&](std::size_t, const nmb::BlockView& block) {
    return definitions(block, [&](std::size_t c, Definition d) { expected[c] = std::move(d); });
  });
  for (std::size_t c = 0; c < columns.size(); ++c) {
    shapes[c] = new_array(dtype_of('i', 8),
                          std::vector<std::uint64_t>{all.size(), expected[c].shape.size()});
    differs[c].resize(all.size());
  }
  all.load(threads, [&](std::size_t i, const nmb::BlockView& block) {
    return definitions(block, [&](std::size_t c, const Definition& found) {
      const std::size_t bytes = found.shape.size() * sizeof(std::uint64_t);
      if (!found.differs_in_lengths_only(expected[c]))
        differs[c][i] = 1;
      else if (bytes > 0)
        std::memcpy(shapes[c].data + i * bytes, found.shape.data(), bytes);
    });
  });
  nb::list out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    nb::list others;
    for (std::size_t i = 0; i < differs[c].size(); ++i)
      if (differs[c][i]) others.append(i);
    out.append(nb::make_tuple(shapes[c].array, others));
  }
  return out;
}

}  // namespace

void bind_columns(nb::module_& module) { module.def("compare_variables", &compare_variables); }

}  // namespace nmb_python
