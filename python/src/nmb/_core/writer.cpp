// The handle of a writer: what nmb/_writer.py and its neighbours call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "handles.h"
#include "option_values.h"
#include "shared_options.h"
#include "text.h"
#include "writer_handle.h"

namespace nmb_python {

namespace {

using State = WriterHandle::State;
using Numbers = std::vector<std::uint64_t>;

// The types of classic netCDF in memory, by their number.
nmb::MemoryType memory_type(nmb::Type type) {
  using enum nmb::MemoryType;
  constexpr nmb::MemoryType types[] = {kInt8,   kInt8,  kText,   kInt16,  kInt32, kFloat,
                                       kDouble, kUInt8, kUInt16, kUInt32, kInt64, kUInt64};
  return types[static_cast<std::size_t>(type)];
}

char kind_of_numbers(nmb::MemoryType type) {
  using enum nmb::MemoryType;
  if (type == kText) return 'S';
  if (type == kFloat || type == kDouble) return 'f';
  return type == kInt8 || type == kInt16 || type == kInt32 || type == kInt64 ? 'i' : 'u';
}

nmb::Type type_of_number(unsigned type) {
  if (!nmb::is_type(type)) throw nb::value_error("found no type of classic netCDF");
  return static_cast<nmb::Type>(type);
}

// The values of an array of numpy, which stay where they are.
nmb::ConstArray values_of(nmb::Type type, nb::handle array) {
  const nmb::MemoryType memory = memory_type(type);
  return {memory, bytes_of(array, kind_of_numbers(memory), nmb::memory_type_size(memory))};
}

nmb::WriteOptions options_of(const OptionValues& values) {
  nmb::WriteOptions out;
  out.mode = values.choice<nmb::WriteOptions::Mode>("mode", {"x", "w", "a"});
  out.sync = values.flag("sync");
  out.hdf5_view = view_of(values);
  out.statistics = level_of(values);
  out.piece_size = values.number<std::uint32_t>("piece_size");
  out.alignment = values.number<std::uint64_t>("alignment");
  out.aggregators = values.number<int>("aggregators");
  return out;
}

nmb::MpiLibrary library_of(const OptionValues& values) {
  return values.choice<nmb::MpiLibrary>("mpi", {"openmpi", "mpich"});
}

// comm: the address of a communicator, or 0.
void open_writer(WriterHandle* made, const nb::bytes& path, nb::dict options, std::uintptr_t comm) {
  const OptionValues values(std::move(options));
  new (made) WriterHandle(std::string(path.c_str(), path.size()), options_of(values),
                          library_of(values), reinterpret_cast<const void*>(comm));
}

// Loads the plug-in for an MPI library and makes ranks of one process with it. Collective over the
// communicator alone, which should be that of this process.
void try_mpi(nb::dict options, std::uintptr_t comm) {
  const OptionValues values(std::move(options));
  const nmb::MpiLibrary library = library_of(values);
  nb::gil_scoped_release unlocked;
  nmb::Ranks::mpi(library, reinterpret_cast<const void*>(comm));
}

std::uint32_t add_block(State& state, nmb::Block block) {
  state.blocks.push_back(std::move(block));
  return static_cast<std::uint32_t>(state.blocks.size() - 1);
}
std::uint32_t add_var(State& state, nmb::Var var) {
  state.vars.push_back(std::move(var));
  return static_cast<std::uint32_t>(state.vars.size() - 1);
}

std::uint32_t block_of(WriterHandle& w, nb::handle name) {
  const std::string text = from_text(name);
  return w.run(text, [&](State& state) -> nmb::Result<std::uint32_t> {
    nmb::Result<nmb::Block> block = state.writer->try_block(text);
    return block.ok() ? nmb::Result(add_block(state, *block)) : block.status();
  });
}

// Returns the number of a block, or none.
nb::object find_block(WriterHandle& w, nb::handle name) {
  const std::string text = from_text(name);
  const auto found = w.run(text, [&](State& state) -> nmb::Result<std::optional<std::uint32_t>> {
    nmb::Result<nmb::Block> block = state.writer->try_find_block(text);
    if (block.ok()) return std::optional(add_block(state, *block));
    if (block.status().code() == nmb::Code::kNotFound) return std::optional<std::uint32_t>();
    return block.status();
  });
  return found ? nb::cast(*found) : nb::none();
}

nmb::BlockDefinitions definitions_of(WriterHandle& w, std::uint32_t block) {
  return w.run({}, [&](State& state) { return state.blocks[block].try_definitions(); });
}

// Returns (name, length, whether it is unlimited) of each dimension.
nb::list dimensions_of(WriterHandle& w, std::uint32_t block) {
  nb::list out;
  for (const nmb::DimView& dim : definitions_of(w, block).dims)
    out.append(nb::make_tuple(to_text(dim.name), dim.length, dim.is_record));
  return out;
}

// Returns (name, number, type, names of the dimensions) of each variable.
nb::list variables_of(WriterHandle& w, std::uint32_t block) {
  const nmb::BlockDefinitions all = definitions_of(w, block);
  const std::uint32_t first = w.run({}, [&](State& state) -> nmb::Result<std::uint32_t> {
    const std::size_t before = state.vars.size();
    for (const nmb::DefinedVar& var : all.vars) add_var(state, var.var);
    return static_cast<std::uint32_t>(before);
  });
  nb::list out;
  for (std::size_t i = 0; i < all.vars.size(); ++i) {
    nb::list dims;
    for (const std::uint32_t dim : all.vars[i].dims) dims.append(to_text(all.dims[dim].name));
    out.append(nb::make_tuple(to_text(all.vars[i].name), first + i,
                              static_cast<unsigned>(all.vars[i].type), nb::tuple(dims)));
  }
  return out;
}

// variable: a name, or none for the attributes of the block.
nb::list attributes_of(WriterHandle& w, std::uint32_t block, nb::handle variable) {
  const nmb::BlockDefinitions all = definitions_of(w, block);
  const std::string name = variable.is_none() ? std::string() : from_text(variable);
  nb::list out;
  const auto add = [&](const std::vector<nmb::AttView>& atts) {
    for (const nmb::AttView& att : atts) out.append(nb::cast(AttributeHandle{att, name}));
  };
  if (variable.is_none()) add(all.atts);
  for (const nmb::DefinedVar& var : all.vars)
    if (!variable.is_none() && var.name == name) add(var.atts);
  return out;
}

// length: none for the record dimension.
void define_dim(WriterHandle& w, std::uint32_t block, nb::handle name, nb::object length) {
  const std::string text = from_text(name);
  const auto number = length.is_none() ? std::optional<std::uint64_t>()
                                       : std::optional(nb::cast<std::uint64_t>(length));
  w.run(text, [&](State& state) {
    nmb::Block& of = state.blocks[block];
    return number ? of.try_dim(text, *number).status() : of.try_dim(text, nmb::kUnlimited).status();
  });
}

std::uint32_t define_variable(WriterHandle& w, std::uint32_t block, nb::handle name, unsigned type,
                              nb::list dims) {
  const std::string text = from_text(name);
  const nmb::Type as = type_of_number(type);
  std::vector<std::string> names;
  for (nb::handle dim : dims) names.push_back(from_text(dim));
  return w.run(text, [&](State& state) -> nmb::Result<std::uint32_t> {
    std::vector<nmb::Dim> handles;
    for (const std::string& dim : names) {
      nmb::Result<nmb::Dim> found = state.blocks[block].try_dim(dim);
      if (!found.ok()) return found.status();
      handles.push_back(*found);
    }
    nmb::Result<nmb::Var> var = state.blocks[block].try_var(text, as, handles);
    return var.ok() ? nmb::Result(add_var(state, *var)) : var.status();
  });
}

// Sets an attribute of a variable, or of a block if `variable` is none, to text or an array.
void set_attribute(WriterHandle& w, std::uint32_t block, nb::object variable, nb::handle name,
                   unsigned type, nb::object value) {
  const std::string text = from_text(name);
  const nmb::Type as = type_of_number(type);
  const std::string characters = PyUnicode_Check(value.ptr()) ? from_text(value) : std::string();
  const nmb::ConstArray values =
      PyUnicode_Check(value.ptr()) ? nmb::ConstArray(characters) : values_of(as, value);
  const auto of = variable.is_none() ? std::optional<std::uint32_t>()
                                     : std::optional(nb::cast<std::uint32_t>(variable));
  w.run(text, [&](State& state) {
    return of ? state.vars[*of].try_att(text, as, values)
              : state.blocks[block].try_att(text, as, values);
  });
}

void remove_attribute(WriterHandle& w, std::uint32_t block, nb::object variable, nb::handle name) {
  const std::string text = from_text(name);
  const auto of = variable.is_none() ? std::optional<std::uint32_t>()
                                     : std::optional(nb::cast<std::uint32_t>(variable));
  w.run(text, [&](State& state) {
    return of ? state.vars[*of].try_remove_att(text) : state.blocks[block].try_remove_att(text);
  });
}

void set_tag(WriterHandle& w, std::uint32_t block, nb::handle name, nb::object value) {
  const std::string text = from_text(name);
  nmb::TagValue tag;
  if (PyUnicode_Check(value.ptr()))
    tag = from_text(value);
  else if (PyFloat_Check(value.ptr()))
    tag = nb::cast<double>(value);
  else if (std::int64_t number = 0; nb::try_cast(value, number))
    tag = number;
  else
    tag = nb::cast<std::uint64_t>(value);
  w.run(text, [&](State& state) { return state.blocks[block].try_tag(text, std::move(tag)); });
}

nmb::Hyperslab slab_of(Numbers start, Numbers count, Numbers stride) {
  return {nmb::DimIndices(std::move(start)), nmb::DimIndices(std::move(count)),
          nmb::DimIndices(std::move(stride))};
}

// is_collective: whether all ranks put together; values: none for a rank without values.
void put(WriterHandle& w, std::uint32_t variable, unsigned type, Numbers start, Numbers count,
         Numbers stride, nb::object values, bool is_collective, nb::handle object) {
  const std::string name = from_text(object);
  const nmb::Type as = type_of_number(type);
  if (values.is_none()) {
    w.run(name, [&](State& state) { return state.vars[variable].try_put_all(); });
    return;
  }
  const nmb::ConstArray array = values_of(as, values);
  const nmb::Hyperslab slab = slab_of(std::move(start), std::move(count), std::move(stride));
  w.run(name, [&](State& state) {
    return is_collective ? state.vars[variable].try_put_all(slab, array)
                         : state.vars[variable].try_put(slab, array);
  });
}

// Reads a hyperslab into a new array.
nb::object get(WriterHandle& w, std::uint32_t variable, unsigned type, Numbers start, Numbers count,
               Numbers stride, nb::handle object) {
  const std::string name = from_text(object);
  const nmb::MemoryType memory = memory_type(type_of_number(type));
  const NewArray made =
      new_array(dtype_of(kind_of_numbers(memory), nmb::memory_type_size(memory)), count);
  const nmb::Hyperslab slab = slab_of(std::move(start), std::move(count), std::move(stride));
  w.run(name, [&](State& state) {
    return state.vars[variable].try_get(slab, nmb::MutableArray(memory, {made.data, made.bytes}));
  });
  return made.array;
}

// code: the name of a Code, or another text for kUsage.
nmb::Status failure_of(nb::handle why, const std::string& code) {
  if (why.is_none()) return {};
  int number = 0;
  while (nmb::code_name(static_cast<nmb::Code>(number)) != code)
    if (++number > static_cast<int>(nmb::Code::kBusy))
      return nmb::Status(nmb::Code::kUsage, from_text(why));
  return nmb::Status(static_cast<nmb::Code>(number), from_text(why));
}

}  // namespace

void bind_writer(nb::module_& module) {
  nb::class_<WriterHandle>(module, "Writer")
      .def("__init__", &open_writer)
      .def("block", &block_of)
      .def("find_block", &find_block)
      .def("remove_block",
           [](WriterHandle& w, std::uint32_t block) {
             w.run({}, [&](State& s) { return s.writer->try_remove(s.blocks[block]); });
           })
      .def("dimensions", &dimensions_of)
      .def("variables", &variables_of)
      .def("attributes", &attributes_of, nb::arg(), nb::arg().none())
      .def("define_dim", &define_dim, nb::arg(), nb::arg(), nb::arg().none())
      .def("define_variable", &define_variable)
      .def("set_attribute", &set_attribute, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
           nb::arg())
      .def("remove_attribute", &remove_attribute, nb::arg(), nb::arg().none(), nb::arg())
      .def("set_samples",
           [](WriterHandle& w, std::uint32_t block, std::uint64_t number) {
             w.run({}, [&](State& s) { return s.blocks[block].try_samples(number); });
           })
      .def("set_tag", &set_tag)
      .def("records",
           [](WriterHandle& w, std::uint32_t block) {
             return w.run({}, [&](State& s) { return s.blocks[block].try_records(); });
           })
      .def("put", &put, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::arg(), nb::arg())
      .def("get", &get)
      .def("add_provenance",
           [](WriterHandle& w, nb::handle json) {
             const std::string text = from_text(json);
             w.run({}, [&](State& s) { return s.writer->try_add_provenance(text); });
           })
      .def("end_define",
           [](WriterHandle& w) { w.run({}, [](State& s) { return s.writer->try_end_define(); }); })
      .def("redefine",
           [](WriterHandle& w) { w.run({}, [](State& s) { return s.writer->try_redefine(); }); })
      .def("commit",
           [](WriterHandle& w) { w.run({}, [](State& s) { return s.writer->try_sync(); }); })
      .def("close",
           [](WriterHandle& w) { w.run({}, [](State& s) { return s.writer->try_close(); }); })
      .def("generation",
           [](WriterHandle& w) {
             return w.run(
                 {}, [](State& s) -> nmb::Result<std::uint64_t> { return s.writer->generation(); });
           })
      .def(
          "discard",
          [](WriterHandle& w, nb::object why, const std::string& code) {
            w.discard(failure_of(why, code));
          },
          nb::arg().none(), nb::arg())
      .def("warnings", &WriterHandle::take_warnings);
  module.def("try_mpi", &try_mpi);
}

}  // namespace nmb_python
