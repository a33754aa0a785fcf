// Sends a message to the program that started this process (base/server/hdf5_stream.h).
#pragma once

#include <initializer_list>
#include <span>

#include "server/hdf5_stream.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Sends a message whose content is all elements of `contents`, one after another. Errors: kIo.
Status send_message(Message kind, std::initializer_list<std::span<const std::byte>> contents);

// Sends kDone if the status is ok, otherwise the failure. Returns the exit code, 0 or 1.
int send_end(const Status& status);

}  // namespace nmb::hdf5
