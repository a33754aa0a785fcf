// Decodes a group of an HDF5 file into a readable block (see client/hdf5_file.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/hdf5_file.h"
#include "model/dataset.h"
#include "reader/file_reader.h"

namespace nmb::hdf5 {

// Decodes the group's body and checks that the group's values lie within its extent. `file` is the
// name of the file in messages. The block's entry is like the entries that open_hdf5() makes.
// Errors: kDamaged.
Result<std::shared_ptr<const LoadedBlock>> decode_group(Hdf5Group group, const std::string& file);

// Decodes a block whose body is in a source. extent: nullptr if the block has no values. Errors:
// kDamaged, kIo.
Result<std::shared_ptr<const LoadedBlock>> decode_group(const std::string& name,
                                                        const ByteSource& body,
                                                        std::shared_ptr<const ByteSource> extent,
                                                        const std::string& file);

// A variable whose values are not in the block, because they could not be decoded.
struct Undecoded {
  std::string path;      // with the name of the block
  std::string why;       // see why_absent()
  bool is_lost = false;  // whether no original has the values either
};
// Returns the undecoded variables of a block. Errors: kDamaged (R-H5-1).
NMB_EXPORT Result<std::vector<Undecoded>> undecoded_variables(const Dataset& dataset);
// Records in the metadata that no original has the values of the undecoded variables any more.
// Returns whether the metadata changed. Errors: kDamaged (R-H5-1).
Result<bool> forget_originals(Metadata* metadata);

// Does the same as open_hdf5(), and adds the Hdf5Group::lost_references of all groups to *lost.
Result<std::vector<std::shared_ptr<const LoadedBlock>>> open_groups(
    std::shared_ptr<const ByteSource> file, OtherFiles other_files, std::vector<std::string>* lost);

}  // namespace nmb::hdf5
