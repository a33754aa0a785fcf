// Sends a message to the program that runs this one (hdf5/client/hdf5_stream.h).
#pragma once

#include <initializer_list>
#include <span>

#include "hdf5/client/hdf5_stream.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Its content is all of `contents`, one behind the other. kIo.
Status send_message(Message kind, std::initializer_list<std::span<const std::byte>> contents);

// Sends kDone, or the failure; returns the exit code, 0 or 1.
int send_end(const Status& status);

}  // namespace nmb::hdf5
