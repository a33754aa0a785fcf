// ObjectMaker: groups, data sets and named datatypes of the file that is being written, by path.
// What is asked for before its turn (a named datatype, the target of a hard link or of a reference
// in a fill value) is made at once and gets its link later.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "attributes_out.h"
#include "handle.h"
#include "hdf5/client/hdf5_form.h"
#include "heap_out.h"
#include "nmb/reader.h"
#include "source_block.h"

namespace nmb::hdf5 {

class ObjectMaker {
 public:
  // All outlive this; file: that of the handle, which stays open.
  ObjectMaker(const Reader& reader, const Hdf5Form& form, hid_t file, ClassicStyle style);

  hid_t file() const { return file_; }
  NamedTypes& named() { return named_; }
  // As it is to be written. kNotFound: no block of that name.
  Result<std::shared_ptr<SourceBlock>> block(const std::string& name);
  // By path, with or without '/' in front; made without a link if it is not there. kDamaged: no
  // block, variable or named datatype has that path.
  Result<Handle> object_at(std::string_view path);
  const FindObject& find_object() const { return find_object_; }
  // For the link that leads to it: what was made before its turn, or a new one.
  Result<Handle> data_set(SourceBlock& source, VarId variable);
  Result<Handle> group(SourceBlock& source);
  Result<Handle> empty_group(const std::string& name);

 private:
  Result<Handle> make(const std::string& path);
  Result<Handle> make_data_set_of(SourceBlock& source, VarId variable);
  Result<Handle> make_group_of(SourceBlock& source);
  // Objects with large attributes need headers that HDF5 1.6 cannot read.
  Status set_header_version(const Metadata& metadata, std::uint32_t owner);

  const Reader& reader_;
  const Hdf5Form& form_;
  const hid_t file_;
  const ClassicStyle style_;
  const FindObject find_object_;
  NamedTypes named_;
  std::map<std::string, Handle, std::less<>> waiting_;  // made, without a link
  std::set<std::string, std::less<>> being_made_;
  std::shared_ptr<SourceBlock> last_;
  bool new_headers_ = false;
};

// The creation properties of a group.
Status set_group_order(hid_t gcpl, const Order& order);
bool has_large_attribute(const Metadata& metadata, std::uint32_t owner);

}  // namespace nmb::hdf5
