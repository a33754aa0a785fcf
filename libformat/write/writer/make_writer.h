// make_writer: makes a Writer with options that only callers inside the library set.
#pragma once

#include <memory>
#include <string>

#include "parallel/communicator.h"
#include "ranks/core_options.h"
#include "writer/file_writer.h"

namespace nmb {

// Works like FileWriter::create() or, if `create` is false, like FileWriter::open(). ranks: nullptr
// for one rank.
Result<std::unique_ptr<FileWriter>> make_writer(const std::string& path, const CoreOptions& options,
                                                bool create, Communicator* ranks = nullptr);

}  // namespace nmb
