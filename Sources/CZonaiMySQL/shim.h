#pragma once
/* Oracle's 8.0 header uses bool without including it. */
#include <stdbool.h>
#include <stdlib.h>
#include <mysql.h>
