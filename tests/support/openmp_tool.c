/* A tool for OpenMP's run-time libraries that does nothing but say that it is used. */
#include <stdio.h>
#include <omp-tools.h>

static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
    (void)look_up, (void)device, (void)data;
    fprintf(stderr, "the other tool is used\n");
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };
    (void)version, (void)runtime;
    return &result;
}
