#pragma once

#include <hdf5.h>

#include <string>

#include "wire/failure.h"

namespace nmb::hdf5 {

// Checks that every source of a data set exists and has all elements that the data set takes from
// it. HDF5 itself would read fill values in place of missing elements. Sources may be virtual
// themselves. A data set that is not virtual has no sources.
//
// object: the data set in messages. file: the file of the data set, and the path of this file.
// plist: the creation properties of the data set. Errors: kNotFound (a source or an element of it
// is missing), kUnsupported (a name is a pattern; more than 8 levels of virtual data sets),
// kDamaged.
Status check_sources(const std::string& object, hid_t file, const std::string& path, hid_t plist);

}  // namespace nmb::hdf5
