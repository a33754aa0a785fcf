// The extension module nmb._core.
#include "arrays.h"
#include "errors.h"
#include "handles.h"

NB_MODULE(_core, module) {
  nmb_python::import_numpy();
  nmb_python::bind_errors(module);
  nmb_python::bind_file(module);
  nmb_python::bind_block(module);
  nmb_python::bind_variable(module);
  nmb_python::bind_batch(module);
  nmb_python::bind_ragged(module);
  nmb_python::bind_columns(module);
  nmb_python::bind_samples(module);
  nmb_python::bind_tasks(module);
  nmb_python::bind_writer(module);
}
