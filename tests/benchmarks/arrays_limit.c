/* What the machine's memory allows: a copy, and relu(x*a + b), with streaming stores on every core.
 *
 * arrays_limit ELEMENTS says "ready", then answers each line of its input, "copy TIMES" or "relu TIMES", with how many
 * elements are right and the ms of each time.
 */
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const float A = 1.5f, B = 0.25f;

static void copy(float *y, const float *x, long n) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i += 8) {
        _mm_stream_ps(y + i, _mm_load_ps(x + i));
        _mm_stream_ps(y + i + 4, _mm_load_ps(x + i + 4));
    }
    _mm_sfence();
}

static __m128 relu_of(__m128 v) {
    return _mm_max_ps(_mm_setzero_ps(), _mm_add_ps(_mm_mul_ps(v, _mm_set1_ps(A)), _mm_set1_ps(B)));
}

static void relu(float *y, const float *x, long n) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i += 8) {
        _mm_stream_ps(y + i, relu_of(_mm_load_ps(x + i)));
        _mm_stream_ps(y + i + 4, relu_of(_mm_load_ps(x + i + 4)));
    }
    _mm_sfence();
}

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static long right(const float *y, const float *x, long n, int is_relu) {
    long count = 0;
    for (long i = 0; i < n; i++)
        count += y[i] == (is_relu ? fmaxf(0.0f, x[i] * A + B) : x[i]);
    return count;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1 << 20, padded = (n + 7) / 8 * 8;
    float *x = aligned_alloc(64, (padded * 4 + 63) / 64 * 64), *y = aligned_alloc(64, (padded * 4 + 63) / 64 * 64);
    if (!x || !y)
        return 1;
    for (long i = 0; i < padded; i++)
        x[i] = (float)(i % 1021) / 256.0f - 2.0f;
    puts("ready");
    fflush(stdout);
    char what[8];
    int times;
    while (scanf("%7s %d", what, &times) == 2) {
        int is_relu = !strcmp(what, "relu");
        double took[1000];
        memset(y, 0xff, padded * 4);
        for (int i = -1; i < times && i < 1000; i++) {
            double begin = now_ms();
            (is_relu ? relu : copy)(y, x, padded);
            if (i >= 0)
                took[i] = now_ms() - begin;
        }
        printf("%ld", right(y, x, n, is_relu));
        for (int i = 0; i < times && i < 1000; i++)
            printf(" %.4f", took[i]);
        puts("");
        fflush(stdout);
    }
    return 0;
}
