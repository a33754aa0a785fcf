// The handle of a block.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <variant>

#include "errors.h"
#include "handles.h"
#include "text.h"

namespace nmb_python {

std::shared_ptr<const nmb::ShownBlock> shown_of(const BlockHandle& block) {
  if (block.shown || block.view.is_classic()) return block.shown;
  nmb::Result<nmb::ShownBlock> shown = [&] {
    nb::gil_scoped_release unlocked;
    return block.view.try_shown();
  }();
  block.shown = std::make_shared<const nmb::ShownBlock>(need(std::move(shown), block.view.name()));
  return block.shown;
}

nmb::Result<nmb::VarView> try_shown_var(const nmb::BlockView& block, const nmb::ShownBlock& shown,
                                        const std::string& name) {
  for (const nmb::ShownVariable& variable : shown.vars)
    if (variable.name == name) return variable.var;
  return block.try_var(name);
}

VariableHandle variable_of(const BlockHandle& block, const std::string& name) {
  const std::string& of = block.view.name();
  if (const auto shown = shown_of(block)) {
    for (std::size_t i = 0; i < shown->vars.size(); ++i)
      if (shown->vars[i].name == name) return {block.file, shown->vars[i].var, of, name, shown, i};
  }
  nmb::Result<nmb::VarView> found = [&] {
    nb::gil_scoped_release unlocked;
    return block.view.try_var(name);
  }();
  VariableHandle out{block.file, need(std::move(found), of), of, name, nullptr};
  return out;
}

namespace {

nb::list variable_names(const BlockHandle& block) {
  nb::list out;
  if (const auto shown = shown_of(block)) {
    for (const nmb::ShownVariable& variable : shown->vars) out.append(to_text(variable.name));
    return out;
  }
  nmb::Result<std::vector<nmb::VarView>> vars = [&] {
    nb::gil_scoped_release unlocked;
    return block.view.try_vars();
  }();
  for (const nmb::VarView& var : need(std::move(vars), block.view.name()))
    out.append(to_text(var.name()));
  return out;
}

// Returns (name, length, may grow) of each dimension.
nb::list dimensions_of(const BlockHandle& block) {
  const auto shown = shown_of(block);
  nmb::Result<std::vector<nmb::DimView>> dims = std::vector<nmb::DimView>();
  if (!shown) {
    nb::gil_scoped_release unlocked;
    dims = block.view.try_dims();
  }
  nb::list out;
  for (const nmb::DimView& dim : shown ? shown->dims : need(std::move(dims), block.view.name()))
    out.append(nb::make_tuple(to_text(dim.name), dim.length, dim.may_grow));
  return out;
}

// Returns (name, name of the block to which it leads) of each link that gives a block another name.
nb::list other_blocks(const BlockHandle& block) {
  nb::list out;
  if (const auto shown = shown_of(block))
    for (const nmb::OtherBlock& other : shown->other_blocks)
      out.append(nb::make_tuple(to_text(other.name), to_text(other.block)));
  return out;
}

std::vector<AttributeHandle> attributes_of(const BlockHandle& block) {
  const auto shown = shown_of(block);
  nmb::Result<std::vector<nmb::AttView>> atts = std::vector<nmb::AttView>();
  if (!shown) {
    nb::gil_scoped_release unlocked;
    atts = block.view.try_atts();
  }
  std::vector<AttributeHandle> out;
  for (const nmb::AttView& att : shown ? shown->atts : need(std::move(atts), block.view.name()))
    out.push_back({att, block.view.name()});
  return out;
}

nb::dict tags_of(const BlockHandle& block) {
  nmb::Result<std::vector<nmb::Tag>> tags = [&] {
    nb::gil_scoped_release unlocked;
    return block.view.try_tags();
  }();
  nb::dict out;
  for (const nmb::Tag& tag : need(std::move(tags), block.view.name()))
    out[to_text(tag.name)] = std::visit(
        [](const auto& value) -> nb::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
            return to_text(value);
          else
            return nb::cast(value);
        },
        tag.value);
  return out;
}

nb::object cdl_of(const BlockHandle& block) {
  nmb::Result<std::string> text = [&] {
    nb::gil_scoped_release unlocked;
    return block.view.try_cdl();
  }();
  return to_text(need(std::move(text), block.view.name()));
}

nb::tuple counts_of(const BlockHandle& block) {
  const nmb::BlockCounts& c = block.view.counts();
  return nb::make_tuple(c.variables, c.dimensions, c.attributes, c.records, c.samples);
}

}  // namespace

void bind_block(nb::module_& module) {
  nb::class_<BlockHandle>(module, "Block")
      .def_prop_ro("name", [](const BlockHandle& b) { return to_text(b.view.name()); })
      .def_prop_ro("is_classic", [](const BlockHandle& b) { return b.view.is_classic(); })
      .def("counts", &counts_of)
      .def("variable_names", &variable_names)
      .def("variable",
           [](const BlockHandle& b, nb::handle name) { return variable_of(b, from_text(name)); })
      .def("dimensions", &dimensions_of)
      .def("other_blocks", &other_blocks)
      .def("attributes", &attributes_of)
      .def("tags", &tags_of)
      .def("cdl", &cdl_of);
}

}  // namespace nmb_python
