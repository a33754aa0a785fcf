// Visibility of the library's public symbols.
#pragma once
#define NMB_EXPORT __attribute__((visibility("default")))
