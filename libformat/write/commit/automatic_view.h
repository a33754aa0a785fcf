// Limits of views that are made automatically (Hdf5View::kAuto, Hdf5View::kSmall).
#pragma once

#include <atomic>

#include "view/view_encoder.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Sets the limits of a view that is made automatically. Errors: kUnsupported if a file with these
// totals gets no such view.
Status limit_automatic_view(const Totals& totals, ViewEncoding* how);

// Checks whether a copy of the file can have a view that is made automatically. Encodes the view
// and discards its bytes. Errors: those of encode_view() and limit_automatic_view().
Status check_view_of_copy(const ByteSource& file, const std::atomic<bool>* cancel);

}  // namespace nmb
