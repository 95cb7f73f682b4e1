/* The draw loop as an expert writes it in C: what immediate-bind costs on OpenGL without Python. Driven by draws.py.

   draws_loop VERTICES INDICES [INDEX_COUNT FIRST_INDEX BASE_VERTEX OBJECTS]...

   Prints the renderer's name. Then each line of its input, "direct FRAMES" or "indirect FRAMES", is answered with the
   draws of a frame and the thread time of each frame from clear to flush, in ms. Needs EGL's surfaceless platform
   (Mesa), and no header of it: what is used is declared here. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 640, HEIGHT = 360, RECORD_FLOATS = 8, COMMAND_WORDS = 5 };

enum {
    EGL_NONE = 0x3038, EGL_OPENGL_API = 0x30A2, EGL_PLATFORM_SURFACELESS = 0x31DD, EGL_CONTEXT_MAJOR = 0x3098,
    EGL_CONTEXT_MINOR = 0x30FB, EGL_PROFILE = 0x30FD, EGL_CORE_PROFILE = 1,
    GL_TRIANGLES = 4, GL_DEPTH_BUFFER_BIT = 0x100, GL_COLOR_BUFFER_BIT = 0x4000, GL_CULL_FACE = 0xB44,
    GL_DEPTH_TEST = 0xB71, GL_UNSIGNED_INT = 0x1405, GL_FLOAT = 0x1406, GL_RENDERER = 0x1F01, GL_RGBA8 = 0x8058,
    GL_DEPTH_COMPONENT24 = 0x81A6, GL_ARRAY_BUFFER = 0x8892, GL_ELEMENT_ARRAY_BUFFER = 0x8893,
    GL_DRAW_INDIRECT_BUFFER = 0x8F3F, GL_UNIFORM_BUFFER = 0x8A11, GL_STATIC_DRAW = 0x88E4, GL_FRAGMENT_SHADER = 0x8B30,
    GL_VERTEX_SHADER = 0x8B31, GL_LINK_STATUS = 0x8B82, GL_FRAMEBUFFER_COMPLETE = 0x8CD5, GL_FRAMEBUFFER = 0x8D40,
    GL_COLOR_ATTACHMENT0 = 0x8CE0, GL_DEPTH_ATTACHMENT = 0x8D00, GL_RENDERBUFFER = 0x8D41,
    GL_SYNC_COMPLETE = 0x9117, GL_SYNC_FLUSH = 1, GL_VERTEX_BARRIER = 1
};

typedef unsigned int Name;

/* result, name, parameters */
#define GL_FUNCTIONS(F) \
    F(const char *, GetString, (unsigned)) \
    F(unsigned, GetError, (void)) \
    F(Name, CreateShader, (unsigned)) \
    F(void, ShaderSource, (Name, int, const char *const *, const int *)) \
    F(void, CompileShader, (Name)) \
    F(Name, CreateProgram, (void)) \
    F(void, AttachShader, (Name, Name)) \
    F(void, LinkProgram, (Name)) \
    F(void, GetProgramiv, (Name, unsigned, int *)) \
    F(int, GetUniformLocation, (Name, const char *)) \
    F(void, UseProgram, (Name)) \
    F(void, Uniform4fv, (int, int, const float *)) \
    F(void, GenBuffers, (int, Name *)) \
    F(void, BindBuffer, (unsigned, Name)) \
    F(void, BindBufferRange, (unsigned, Name, Name, intptr_t, intptr_t)) \
    F(void, BufferData, (unsigned, intptr_t, const void *, unsigned)) \
    F(void, GenVertexArrays, (int, Name *)) \
    F(void, BindVertexArray, (Name)) \
    F(void, EnableVertexAttribArray, (Name)) \
    F(void, VertexAttribPointer, (Name, int, unsigned, unsigned char, int, const void *)) \
    F(void, VertexAttribDivisor, (Name, Name)) \
    F(void, GenFramebuffers, (int, Name *)) \
    F(void, BindFramebuffer, (unsigned, Name)) \
    F(void, GenRenderbuffers, (int, Name *)) \
    F(void, BindRenderbuffer, (unsigned, Name)) \
    F(void, RenderbufferStorage, (unsigned, unsigned, int, int)) \
    F(void, FramebufferRenderbuffer, (unsigned, unsigned, unsigned, Name)) \
    F(unsigned, CheckFramebufferStatus, (unsigned)) \
    F(void, Viewport, (int, int, int, int)) \
    F(void, Enable, (unsigned)) \
    F(void, ClearColor, (float, float, float, float)) \
    F(void, Clear, (unsigned)) \
    F(void, MemoryBarrier, (unsigned)) \
    F(void, DrawElementsInstancedBaseVertexBaseInstance, \
      (unsigned, int, unsigned, const void *, int, int, unsigned)) \
    F(void, DrawElementsIndirect, (unsigned, unsigned, const void *)) \
    F(void, Flush, (void)) \
    F(void *, FenceSync, (unsigned, unsigned)) \
    F(unsigned, ClientWaitSync, (void *, unsigned, uint64_t)) \
    F(void, DeleteSync, (void *))

#define DECLARE(result, name, parameters) static result(*gl##name) parameters;
GL_FUNCTIONS(DECLARE)

static void *(*resolve)(const char *);

static const char VERTEX[] =
    "#version 430\n"
    "layout(std140, binding = 0) uniform Frame { mat4 view_projection; float time; } frame;\n"
    "uniform vec4 record[2];\n"
    "layout(location = 0) in vec3 position;\n"
    "layout(location = 1) in vec3 normal;\n"
    "layout(location = 2) in float height;\n"
    "flat out vec4 shade;\n"
    "void main() {\n"
    "    vec3 world = position * record[0].w * (1.0 + height) + vec3(record[0].x, 0.0, record[0].y);\n"
    "    gl_Position = frame.view_projection * vec4(world, 1.0 + frame.time);\n"
    "    shade = record[1] * normal.y;\n"
    "}\n";
static const char FRAGMENT[] =
    "#version 430\n"
    "flat in vec4 shade;\n"
    "out vec4 colour;\n"
    "void main() { colour = shade; }\n";

static void fail(const char *what) {
    fprintf(stderr, "draws_loop: %s\n", what);
    exit(1);
}

static void *need(const char *name) {
    void *found = resolve(name);
    if (!found) fail(name);
    return found;
}

static void open_context(void) {
    void *egl = dlopen("libEGL.so.1", RTLD_NOW);
    if (!egl) fail(dlerror());
    resolve = (void *(*)(const char *))dlsym(egl, "eglGetProcAddress");
    void *(*get_display)(unsigned, void *, const intptr_t *) = need("eglGetPlatformDisplay");
    unsigned (*initialize)(void *, int *, int *) = need("eglInitialize");
    unsigned (*bind_api)(unsigned) = need("eglBindAPI");
    void *(*create_context)(void *, void *, void *, const int *) = need("eglCreateContext");
    unsigned (*make_current)(void *, void *, void *, void *) = need("eglMakeCurrent");
    const int wanted[] = {EGL_CONTEXT_MAJOR, 4, EGL_CONTEXT_MINOR, 3, EGL_PROFILE, EGL_CORE_PROFILE, EGL_NONE};
    void *display = get_display(EGL_PLATFORM_SURFACELESS, NULL, NULL);
    if (!display || !initialize(display, NULL, NULL) || !bind_api(EGL_OPENGL_API)) fail("no surfaceless display");
    void *context = create_context(display, NULL, NULL, wanted);
    if (!context || !make_current(display, NULL, NULL, context)) fail("no OpenGL 4.3 core context");
#define RESOLVE(result, name, parameters) gl##name = need("gl" #name);
    GL_FUNCTIONS(RESOLVE)
}

static Name shader(unsigned kind, const char *source) {
    Name made = glCreateShader(kind);
    glShaderSource(made, 1, &source, NULL);
    glCompileShader(made);
    return made;
}

static Name program(void) {
    int linked = 0;
    Name made = glCreateProgram();
    glAttachShader(made, shader(GL_VERTEX_SHADER, VERTEX));
    glAttachShader(made, shader(GL_FRAGMENT_SHADER, FRAGMENT));
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &linked);
    if (!linked) fail("the program does not link");
    return made;
}

static Name buffer(unsigned target, size_t bytes, const void *data) {
    Name made;
    void *zeros = data ? NULL : calloc(1, bytes);
    glGenBuffers(1, &made);
    glBindBuffer(target, made);
    glBufferData(target, bytes, data ? data : zeros, GL_STATIC_DRAW);
    free(zeros);
    return made;
}

static void attribute(Name index, int floats, int stride, size_t offset, Name divisor) {
    glEnableVertexAttribArray(index);
    glVertexAttribPointer(index, floats, GL_FLOAT, 0, stride, (const void *)offset);
    glVertexAttribDivisor(index, divisor);
}

static Name vertex_array(int vertices, int indices, int objects) {
    Name made;
    glGenVertexArrays(1, &made);
    glBindVertexArray(made);
    buffer(GL_ARRAY_BUFFER, 24 * (size_t)vertices, NULL);
    attribute(0, 3, 24, 0, 0);
    attribute(1, 3, 24, 12, 0);
    buffer(GL_ARRAY_BUFFER, 4 * (size_t)objects, NULL);
    attribute(2, 1, 4, 0, 1);
    buffer(GL_ELEMENT_ARRAY_BUFFER, 4 * (size_t)indices, NULL);
    return made;
}

static Name renderbuffer(unsigned format) {
    Name made;
    glGenRenderbuffers(1, &made);
    glBindRenderbuffer(GL_RENDERBUFFER, made);
    glRenderbufferStorage(GL_RENDERBUFFER, format, WIDTH, HEIGHT);
    return made;
}

static Name framebuffer(void) {
    Name made;
    glGenFramebuffers(1, &made);
    glBindFramebuffer(GL_FRAMEBUFFER, made);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer(GL_RGBA8));
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, renderbuffer(GL_DEPTH_COMPONENT24));
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) fail("the framebuffer is incomplete");
    glViewport(0, 0, WIDTH, HEIGHT);
    return made;
}

/* What a stored draw command holds. */
typedef struct {
    uint32_t index_count, instances, first_index, base_vertex, base_instance;
} Command;

typedef struct {
    Name program, vertex_array, framebuffer, uniforms;
    int record;
    int objects;
    float *records;
    Command *commands;
} Scene;

static Scene scene(int vertices, int indices, int ranges, char **figures) {
    Scene made = {0};
    for (int i = 0; i < ranges; i++) made.objects += atoi(figures[4 * i + 3]);
    made.records = calloc(made.objects, RECORD_FLOATS * sizeof(float));
    made.commands = calloc(made.objects, sizeof(Command));
    int object = 0;
    for (int i = 0; i < ranges; i++) {
        char **range = figures + 4 * i;
        for (int end = object + atoi(range[3]); object < end; object++) {
            made.commands[object] = (Command){atoi(range[0]), 1, atoi(range[1]), atoi(range[2]), object};
            for (int j = 0; j < RECORD_FLOATS; j++) made.records[RECORD_FLOATS * object + j] = object + 0.1f * j;
        }
    }
    made.program = program();
    made.record = glGetUniformLocation(made.program, "record");
    made.vertex_array = vertex_array(vertices, indices, made.objects);
    made.framebuffer = framebuffer();
    made.uniforms = buffer(GL_UNIFORM_BUFFER, 256, NULL);
    buffer(GL_DRAW_INDIRECT_BUFFER, made.objects * sizeof(Command), made.commands);
    return made;
}

static int draw_direct(const Scene *scene) {
    int object = 0;
    for (; object < scene->objects; object++) {
        const Command *each = scene->commands + object;
        glUniform4fv(scene->record, 2, scene->records + RECORD_FLOATS * object);
        glDrawElementsInstancedBaseVertexBaseInstance(
            GL_TRIANGLES, each->index_count, GL_UNSIGNED_INT, (const void *)(4 * (size_t)each->first_index), 1,
            each->base_vertex, each->base_instance);
    }
    return object;
}

static int draw_indirect(const Scene *scene) {
    int object = 0;
    for (; object < scene->objects; object++) {
        glUniform4fv(scene->record, 2, scene->records + RECORD_FLOATS * object);
        glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, (const void *)(object * sizeof(Command)));
    }
    return object;
}

static int frame(const Scene *scene, int (*draw)(const Scene *)) {
    glBindFramebuffer(GL_FRAMEBUFFER, scene->framebuffer);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    glClearColor(0.043f, 0.055f, 0.094f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glMemoryBarrier(GL_VERTEX_BARRIER);
    glBindBufferRange(GL_UNIFORM_BUFFER, 0, scene->uniforms, 0, 80);
    glUseProgram(scene->program);
    glBindVertexArray(scene->vertex_array);
    int draws = draw(scene);
    glFlush();
    return draws;
}

static double thread_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* One frame in flight. */
static void block(const Scene *scene, int (*draw)(const Scene *), int frames) {
    int draws = frame(scene, draw);
    printf("%d", draws);
    for (int i = 0; i < frames; i++) {
        void *fence = glFenceSync(GL_SYNC_COMPLETE, 0);
        glClientWaitSync(fence, GL_SYNC_FLUSH, 10000000000ull);
        glDeleteSync(fence);
        double begin = thread_ms();
        if (frame(scene, draw) != draws) fail("frames differ in their draws");
        printf(" %.6f", thread_ms() - begin);
    }
    printf("\n");
    fflush(stdout);
    if (glGetError()) fail("OpenGL reports an error");
}

int main(int count, char **arguments) {
    if (count < 3 || (count - 3) % 4) fail("see the first lines of draws_loop.c");
    open_context();
    Scene drawn = scene(atoi(arguments[1]), atoi(arguments[2]), (count - 3) / 4, arguments + 3);
    printf("%s\n", glGetString(GL_RENDERER));
    fflush(stdout);
    char way[16];
    int frames;
    while (scanf("%15s %d", way, &frames) == 2) {
        block(&drawn, strcmp(way, "direct") ? draw_indirect : draw_direct, frames);
    }
    return 0;
}
