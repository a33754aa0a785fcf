// ObjectMaker: makes groups, data sets and named datatypes by path, in the file that is being
// written. Some objects are needed before they can be linked: named datatypes, and the targets of
// hard links or of references in fill values. Such an object is made when it is needed, and gets
// its link later.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "client/hdf5_form.h"
#include "export/attributes_out.h"
#include "export/heap_out.h"
#include "handle.h"
#include "import/export_source.h"
#include "reader/file_reader.h"

namespace nmb::hdf5 {

class ObjectMaker {
 public:
  // All arguments must outlive this ObjectMaker. `file` must stay open.
  ObjectMaker(const NamedBlocks& blocks, const Hdf5Form& form, hid_t file, WriteStyle style);

  hid_t file() const { return file_; }
  NamedTypes& named() { return named_; }
  // Returns the block, prepared for writing. Errors: kNotFound if no block has that name.
  Result<std::shared_ptr<ExportSource>> block(const std::string& name);
  // Returns an object by path, which may begin with '/'. If the object does not exist, makes it
  // without a link. Errors: kDamaged if no block, variable or named datatype has that path.
  Result<Handle> object_at(std::string_view path);
  const FindObject& find_object() const { return find_object_; }
  // Each of these functions returns the object if it was made early, and otherwise makes it. The
  // caller must then link the object.
  Result<Handle> data_set(ExportSource& source, VarId variable);
  Result<Handle> group(ExportSource& source);
  Result<Handle> empty_group(const std::string& name);

 private:
  Result<Handle> make(const std::string& path);
  // Returns the object that was made early for this path, or an empty handle.
  Handle take_waiting(const std::string& path);
  Result<Handle> make_data_set_of(ExportSource& source, VarId variable);
  Result<Handle> make_group_of(ExportSource& source);
  // Objects with large attributes need headers that HDF5 1.6 cannot read.
  Status set_header_version(const Metadata& metadata, std::uint32_t owner);

  const NamedBlocks blocks_;
  const Hdf5Form& form_;
  const hid_t file_;
  const WriteStyle style_;
  const FindObject find_object_;
  NamedTypes named_;
  std::map<std::string, Handle, std::less<>> waiting_;  // objects that were made early and have no
                                                        // link yet
  std::set<std::string, std::less<>> being_made_;
  std::shared_ptr<ExportSource> last_;
  bool new_headers_ = false;
};

// Sets the creation properties of a group.
Status set_group_order(hid_t gcpl, const Order& order);
bool has_large_attribute(const Metadata& metadata, std::uint32_t owner);

}  // namespace nmb::hdf5
