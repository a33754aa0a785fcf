// Allocations of one thread that fail: programs that link failing_new.cpp have an operator new of
// their own.
#pragma once

#include <cstdint>

namespace nmb::test {

// This thread's allocation number `number` from now, from 0, throws std::bad_alloc; later ones
// work.
void fail_allocation(std::uint64_t number);
// Ends that, if it has not happened; returns the allocations since.
std::uint64_t stop_failing();

}  // namespace nmb::test
