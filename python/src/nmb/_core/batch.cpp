// Reads of several variables in one call: those of a block, and any of a file.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "errors.h"
#include "found_blocks.h"
#include "handles.h"
#include "many_reads.h"
#include "text.h"

namespace nmb_python {

namespace {

struct FoundVariable {
  nmb::VarView var;
  std::vector<std::uint64_t> shape;
};

// Finds variables of a classic block. Without `names`, finds all.
nmb::Result<std::vector<FoundVariable>> find_variables(const nmb::BlockView& block,
                                                       const std::vector<std::string>* names) {
  std::vector<nmb::VarView> vars;
  if (names) {
    for (const std::string& name : *names) {
      nmb::Result<nmb::VarView> var = block.try_var(name);
      if (!var.ok()) return var.status();
      vars.push_back(*std::move(var));
    }
  } else {
    nmb::Result<std::vector<nmb::VarView>> all = block.try_vars();
    if (!all.ok()) return all.status();
    vars = *std::move(all);
  }
  std::vector<FoundVariable> out;
  out.reserve(vars.size());
  for (nmb::VarView& var : vars) {
    nmb::Result<std::vector<std::uint64_t>> shape = var.try_shape();
    if (!shape.ok()) return shape.status();
    out.push_back({std::move(var), *std::move(shape)});
  }
  return out;
}

// Returns a dict of the values of variables, by name. names: a list of names, or none for all.
nb::dict read_block(const BlockHandle& block, nb::handle names, unsigned threads) {
  std::vector<std::string> wanted;
  nb::list keys;
  if (!names.is_none()) {
    keys = nb::list(names);
    for (nb::handle name : keys) wanted.push_back(from_text(name));
  }
  const std::string& of = block.view.name();
  std::vector<FoundVariable> found;
  if (const auto shown = shown_of(block)) {
    const auto add = [&](const nmb::VarView& var) {
      found.push_back({var, need(var.try_shape(), of)});
    };
    if (names.is_none())
      for (const nmb::ShownVariable& variable : shown->vars) {
        keys.append(to_text(variable.name));
        add(variable.var);
      }
    for (const std::string& name : wanted) add(variable_of(block, name).view);
  } else {
    nmb::Result<std::vector<FoundVariable>> result = [&] {
      nb::gil_scoped_release unlocked;
      return find_variables(block.view, names.is_none() ? nullptr : &wanted);
    }();
    found = need(std::move(result), of);
    if (names.is_none())
      for (const FoundVariable& one : found) keys.append(to_text(one.var.name()));
  }
  ManyReads reads(found.size());
  for (FoundVariable& one : found) reads.add(std::move(one.var), std::move(one.shape), of);
  reads.run(block.file->reader, threads);
  nb::dict out;
  for (std::size_t i = 0; i < found.size(); ++i) out[keys[i]] = reads.array(i);
  return out;
}

std::vector<std::uint64_t> numbers_of(nb::handle sequence) {
  std::vector<std::uint64_t> out;
  for (nb::handle number : sequence) out.push_back(nb::cast<std::uint64_t>(number));
  return out;
}

std::optional<nmb::Hyperslab> slab_of(nb::handle part) {
  if (part.is_none()) return std::nullopt;
  const nb::tuple lists = nb::borrow<nb::tuple>(part);
  nmb::Hyperslab slab;
  slab.start = nmb::DimIndices(numbers_of(lists[0]));
  slab.count = nmb::DimIndices(numbers_of(lists[1]));
  slab.stride = nmb::DimIndices(numbers_of(lists[2]));
  if (slab.count.empty()) return std::nullopt;  // a variable without dimensions
  return slab;
}

// Reads (block, name, slab, out) of a list. block: a name, a position or a BlockHandle; slab: none
// or (start, count, stride). Returns a list of arrays.
nb::list read_many(const std::shared_ptr<FileHandle>& file, nb::list items, unsigned threads) {
  struct Item {
    std::size_t block;
    std::string name;
    FoundVariable found;
  };
  FoundBlocks blocks(file);
  std::vector<Item> wanted;
  std::vector<std::vector<std::size_t>> of_block;
  for (nb::handle item : items) {
    const nb::tuple parts = nb::borrow<nb::tuple>(item);
    wanted.push_back({blocks.add(parts[0]), from_text(parts[1]), {}});
    of_block.resize(blocks.size());
    of_block.back().push_back(wanted.size() - 1);
  }
  blocks.load(threads, [&](std::size_t block, const nmb::BlockView& view) -> nmb::Status {
    if (!view.is_classic()) return {};
    for (const std::size_t i : of_block[block]) {
      const std::vector<std::string> name{wanted[i].name};
      nmb::Result<std::vector<FoundVariable>> found = find_variables(view, &name);
      if (!found.ok()) return found.status();
      wanted[i].found = std::move(found->front());
    }
    return {};
  });
  ManyReads reads(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const nb::tuple parts = nb::borrow<nb::tuple>(items[i]);
    const BlockHandle& block = blocks[wanted[i].block];
    FoundVariable& found = wanted[i].found;
    std::string name = full_name(block.view.name(), wanted[i].name);
    if (!block.view.is_classic()) {
      found.var = variable_of(block, wanted[i].name).view;
      found.shape = need(found.var.try_shape(), name);
    }
    reads.add(std::move(found.var), std::move(found.shape), std::move(name), slab_of(parts[2]),
              parts[3]);
  }
  reads.run(file->reader, threads);
  nb::list out;
  for (std::size_t i = 0; i < wanted.size(); ++i) out.append(reads.array(i));
  return out;
}

}  // namespace

void bind_batch(nb::module_& module) {
  module.def("read_block", &read_block, nb::arg(), nb::arg().none(), nb::arg());
  module.def("read_many", &read_many);
}

}  // namespace nmb_python
