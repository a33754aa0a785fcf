// GroupIn: converts a group of an HDF5 file to a block of kind 6 (spec/extended.md, section 15;
// spec/hdf5_section.md).
#pragma once

#include <hdf5.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "import/attributes_in.h"
#include "import/file_in.h"
#include "import/types_in.h"
#include "model/metadata.h"
#include "server/hdf5_stream.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

struct DataSetIn;
struct MissingChunks;

class GroupIn {
 public:
  GroupIn(FileIn& file, std::string name);

  // Adds the attributes and properties of the group itself.
  Status add_group(hid_t group);
  Status add_variable(const std::string& name, hid_t data_set);
  // Adds the data set whose header is at `address` without opening it, and returns true. This is
  // possible only if a data set of the same kind was added before; otherwise returns false, and the
  // caller must open the data set and call add_variable().
  Result<bool> add_alike(const std::string& name, std::uint64_t address);
  void add_link(Link link) { links_.push_back(std::move(link)); }
  void add_user_block(std::vector<std::byte> bytes);
  // Adds a named datatype with its attributes, and returns the type code.
  Result<Type> add_named_type(hid_t type);
  VarId next_variable() const { return metadata_.variable_count(); }

  // Returns the message that sends the block. No other call may follow.
  struct Content {
    GroupMessage block;
    std::vector<std::byte> body;
  };
  Result<Content> finish();

 private:
  Status add_attributes(std::vector<AttributeIn> attributes, VarId owner, Metadata* to,
                        bool keep_properties);
  // Records that the object at `path` has references to deleted objects, in attributes or else in
  // its values.
  void name_lost(const std::string& path);
  Status add_comment(hid_t object, VarId owner, const std::string& text);
  Result<std::vector<DimId>> dimensions_of(const std::string& path,
                                           const std::vector<AttributeIn>& attributes,
                                           const Space& space);
  Result<DimId> dimension(const std::string& key, const std::string& name, std::uint64_t length,
                          bool unlimited);
  std::string path_of(const std::string& name) const;
  Result<VarId> declare(const std::string& name, const std::string& path, const DataSetIn& found);
  Status complete(VarId variable, std::uint64_t begin, DataSetIn found);
  Result<std::uint64_t> length_of(const DataSetIn& found, const std::string& object) const;
  // Adds the regions, runs and storage of a variable's values. Returns the offset in the extent at
  // which the values begin.
  Result<std::uint64_t> add_values(VarId variable, const std::string& object, hid_t data_set,
                                   hid_t plist, hid_t type, DataSetIn* found);
  Result<std::uint64_t> add_contiguous(VarId variable, const std::string& object, std::uint64_t at,
                                       std::uint64_t bytes);
  Result<std::uint64_t> add_chunks(VarId variable, const std::string& object, hid_t data_set,
                                   hid_t plist, const Space& space);
  // Uses the HDF5 library to read values of variable length, and values in other files. `missing`
  // is nullptr, or lists the chunks that the HDF5 library cannot read. Errors: kDamaged, with rule
  // R-XC-1 if a chunk cannot be decoded.
  Result<std::uint64_t> add_read(VarId variable, const std::string& object, hid_t data_set,
                                 hid_t type, Type code, const Space& space,
                                 const MissingChunks* missing);
  static Result<std::vector<ExternalFile>> external_files(const std::string& object, hid_t plist);
  Status add_external(VarId variable, const std::string& object, hid_t plist);
  Status add_virtual(VarId variable, const std::string& object, hid_t plist);
  Result<ExtentRun> find_chunk(const std::string& object, hid_t data_set, const hsize_t* at,
                               bool copied, unsigned* mask);
  void add_run(const ExtentRun& run);
  // Adds the values of variable length of a data set whose chunks cannot be decoded. Either
  // `filter` is not installed, or it has the number 0 and a name that says why no original has the
  // values.
  std::uint64_t add_undecoded(VarId variable, const Filter& filter);
  // Adds values that have no bytes in the file. Returns the offset in the extent at which the
  // values begin.
  std::uint64_t add_nothing(VarId variable);
  // Adds a run after all other runs. Returns the offset in the extent at which the run begins.
  std::uint64_t append_run(std::uint64_t length, std::uint64_t source, RunSource from);
  // Adds a property of the group or of the current variable.
  Property& add_property(Property::Number number, VarId owner,
                         std::uint32_t attribute = kNoAttribute);
  static void append_properties(std::vector<Property> properties, std::vector<std::byte>* section);
  bool has_default_links() const;

  FileIn& file_;
  const std::string name_;
  Metadata metadata_{Metadata::Names::kAsFound};
  TypesIn types_;
  std::vector<Unlimited> unlimited_;
  std::vector<Storage> storage_;
  std::vector<Property> properties_;           // properties of the group
  std::vector<Property> variable_properties_;  // properties of the current variable
  std::vector<std::byte> variable_section_;    // properties of all earlier variables
  std::vector<Link> links_;
  std::set<std::string> lost_;  // places with references to deleted objects
  std::vector<ExtentRun> runs_;
  // The key of a dimension consists of the path of its scale, its length, and whether it is
  // unlimited.
  std::map<std::string, DimId> dimensions_;
  std::uint32_t phony_ = 0;  // number of dimensions without a name so far
  std::uint64_t extent_end_ = 0;
};

}  // namespace nmb::hdf5
