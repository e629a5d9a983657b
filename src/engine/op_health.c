/* GET /health */
#include "control_plane.h"

void op_health(const struct api_call *call) {
    api_done(call->request);
}
