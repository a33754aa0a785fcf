// What the sources of the back end of NMB share.
#pragma once

#include <utility>
#include <vector>

#include "kernel.h"
#include "writer/file_writer.h"

namespace nmb::bench {

MemoryType memory_type_of(Element element);

// Blocks, each with the number of its first variable.
std::vector<std::pair<BlockId, std::size_t>> define_objects(FileWriter& writer,
                                                            const Description& objects);

// thread_create and thread_small_arrays: what each of very many ranks computes and sends, on a
// machine that has no processor for each.
void run_thread_kernel(Run& run);

}  // namespace nmb::bench
