#define STATES 8
#define WIDTH 8
#include "hidden_markov.h"
