// The native handles of a file, a block, a variable and an attribute. nmb/*.py wrap them.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/reader.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "numpy_type.h"

namespace nmb_python {

namespace nb = nanobind;

inline std::string full_name(const std::string& block, const std::string& variable) {
  return block.empty() ? variable : block + "/" + variable;
}

struct FileHandle {
  nmb::Reader reader;
};

struct AttributeHandle {
  nmb::AttView view;
  std::string object;  // for exceptions
};

// A variable as netCDF programs see it.
struct VariableHandle {
  std::shared_ptr<const FileHandle> file;
  nmb::VarView view;
  std::string block, name;
  std::shared_ptr<const nmb::ShownBlock> shown;  // nullptr in classic blocks
  std::size_t number = 0;                        // in shown->vars
  mutable std::shared_ptr<const NumpyType> type{};

  std::string full_name() const { return nmb_python::full_name(block, name); }
};

struct BlockHandle {
  std::shared_ptr<const FileHandle> file;
  nmb::BlockView view;
  // The definitions that netCDF programs see, of a block that is not classic; loaded when they are
  // needed, and protected by the interpreter's lock.
  mutable std::shared_ptr<const nmb::ShownBlock> shown{};
};

// The functions below may be called with and without the interpreter's lock, unless they say
// otherwise.

// Returns the definitions that netCDF programs see, or nullptr if the block is classic. Needs the
// lock, and releases it while it reads.
std::shared_ptr<const nmb::ShownBlock> shown_of(const BlockHandle& block);
// Finds a variable of a block that is not classic by the name that netCDF programs see. Names that
// they do not see count only if no other variable is shown under them.
nmb::Result<nmb::VarView> try_shown_var(const nmb::BlockView& block, const nmb::ShownBlock& shown,
                                        const std::string& name);
// Finds a variable by the name that netCDF programs see. Needs the lock.
VariableHandle variable_of(const BlockHandle& block, const std::string& name);

// Returns the type of a variable's elements in numpy. Needs the lock.
std::shared_ptr<const NumpyType> numpy_type_of(const nmb::VarView& var);

void bind_file(nb::module_& module);
void bind_block(nb::module_& module);
void bind_variable(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_ragged(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_samples(nb::module_& module);
void bind_tasks(nb::module_& module);
void bind_writer(nb::module_& module);

}  // namespace nmb_python
