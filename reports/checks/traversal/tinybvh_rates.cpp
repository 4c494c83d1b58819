// Times tinybvh on dumped triangles and rays. compare.py builds and calls it:
//
//     tinybvh_rates TRIANGLES [--rays KIND FILE]... [--cpu THREADS]... [--opencl NAME SOURCE] [--builds NAME,...]
//                   [--layouts NAME,...] [--passes N]
//
// TRIANGLES holds nine floats a triangle, FILE eight a ray: origin, least distance, direction, greatest distance.
// SOURCE is tinybvh's traverse.cl with its includes in place and tinybvh_rates.cl behind it. Standard output has one JSON
// object a line for each layout, build, set of rays, query and way of running them; whatever cannot run is said on
// standard error and left out.

#define TINYBVH_IMPLEMENTATION
#include "tiny_bvh.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using tinybvh::bvhvec3;
using tinybvh::bvhvec4;

namespace {

struct DumpedRay {
    float origin[3], t_min, direction[3], t_max;
};

struct RaySet {
    std::string kind;
    std::vector<DumpedRay> rays;
};

[[noreturn]] void fail(const std::string& message) {
    fprintf(stderr, "tinybvh_rates: %s\n", message.c_str());
    exit(1);
}

void say(const std::string& message) { fprintf(stderr, "tinybvh_rates: %s\n", message.c_str()); }

std::vector<char> bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot read " + path);
    return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> words_of(const std::string& text) {
    std::stringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    return words;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Three vertices of four floats a triangle, as tinybvh wants them.
std::vector<bvhvec4> triangles_of(const std::string& path) {
    const std::vector<char> bytes = bytes_of(path);
    const float* floats = reinterpret_cast<const float*>(bytes.data());
    std::vector<bvhvec4> vertices(bytes.size() / 36 * 3);
    for (size_t i = 0; i < vertices.size(); i++)
        vertices[i] = bvhvec4(floats[3 * i], floats[3 * i + 1], floats[3 * i + 2], 0);
    return vertices;
}

/// tinybvh's rays have no least distance, and BVH_FAR is as far as they go.
RaySet rays_of(const std::string& kind, const std::string& path) {
    const std::vector<char> bytes = bytes_of(path);
    RaySet set{kind, std::vector<DumpedRay>(bytes.size() / sizeof(DumpedRay))};
    memcpy(static_cast<void*>(set.rays.data()), bytes.data(), set.rays.size() * sizeof(DumpedRay));
    for (DumpedRay& ray : set.rays) {
        if (ray.t_min != 0) fail(path + " has rays that begin behind their origin, which tinybvh cannot trace");
        ray.t_max = std::min(ray.t_max, BVH_FAR);
    }
    return set;
}

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * (values.size() - 1);
    const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (at - below);
}

double seconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

std::string quoted(const std::string& text) {
    std::string json = "\"";
    for (char c : text) json += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c < ' ' ? ' ' : c);
    return json + "\"";
}

/// Seconds of each pass, and of the processor where it did the work.
struct Times {
    std::vector<double> wall, busy;
};

void print_row(const std::string& tracer, const std::string& variant, const std::string& device, const RaySet& set,
               bool any, size_t hits, const Times& times) {
    const double millions = set.rays.size() * 1e-6;
    printf("{\"tracer\":%s,\"variant\":%s,\"device\":%s,\"kind\":%s,\"query\":\"%s\",\"rays\":%zu,\"hits\":%zu,"
           "\"mrays\":%.6g,\"quartiles\":[%.6g,%.6g],\"passes\":%zu",
           quoted(tracer).c_str(), quoted(variant).c_str(), quoted(device).c_str(), quoted(set.kind).c_str(),
           any ? "any" : "closest", set.rays.size(), hits, millions / quantile(times.wall, 0.5),
           millions / quantile(times.wall, 0.75), millions / quantile(times.wall, 0.25), times.wall.size());
    if (!times.busy.empty()) printf(",\"mrays_per_core\":%.6g", millions / quantile(times.busy, 0.5));
    printf("}\n");
    fflush(stdout);
}

/// Passes are timed from the second on, and not before a device has worked for this long: clocks rise when it is asked.
const double WARM_UP_SECONDS = 0.1;

bool is_warm(unsigned pass, double start) { return pass > 0 && seconds(CLOCK_MONOTONIC) - start > WARM_UP_SECONDS; }

/// The queries of each kind of rays: camera and diffuse rays ask for the closest hit, shadow rays for any and the closest.
std::vector<bool> queries_of(const std::string& kind) {
    return kind == "shadow" ? std::vector<bool>{true, false} : std::vector<bool>{false};
}

// ---- processors

struct Found {
    float t, u, v;
    uint32_t primitive;
};

template <class Layout>
void trace(const Layout& layout, const RaySet& set, bool any, size_t first, size_t last, Found* found) {
    for (size_t i = first; i < last; i++) {
        const DumpedRay& dumped = set.rays[i];
        tinybvh::Ray ray;
        ray.O = bvhvec3(dumped.origin[0], dumped.origin[1], dumped.origin[2]);
        ray.D = bvhvec3(dumped.direction[0], dumped.direction[1], dumped.direction[2]);
        ray.rD = tinybvh::tinybvh_rcp(ray.D);
        ray.hit.t = dumped.t_max, ray.hit.u = ray.hit.v = 0, ray.hit.prim = 0;
        if (any) {
            found[i].t = layout.IsOccluded(ray) ? -1 : dumped.t_max;
        } else {
            layout.Intersect(ray);
            found[i] = Found{ray.hit.t, ray.hit.u, ray.hit.v, ray.hit.prim};
        }
    }
}

/// Rays of a block that a thread takes at once.
const size_t BLOCK = 4096;

template <class Layout>
void time_on_cpu(const Layout& layout, const std::string& variant, const std::vector<RaySet>& sets,
                 const std::vector<unsigned>& threads, const std::string& device, unsigned passes) {
    for (const RaySet& set : sets)
        for (bool any : queries_of(set.kind))
            for (unsigned count : threads) {
                std::vector<Found> found(set.rays.size());
                Times times;
                const double start = seconds(CLOCK_MONOTONIC);
                for (unsigned pass = 0; times.wall.size() < passes; pass++) {
                    const bool timed = is_warm(pass, start);
                    std::atomic<size_t> next{0};
                    const auto work = [&] {
                        for (size_t first; (first = next.fetch_add(BLOCK)) < set.rays.size();)
                            trace(layout, set, any, first, std::min(first + BLOCK, set.rays.size()), found.data());
                    };
                    const double wall = seconds(CLOCK_MONOTONIC), busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
                    std::vector<std::thread> others;
                    for (unsigned i = 1; i < count; i++) others.emplace_back(work);
                    work();
                    for (std::thread& other : others) other.join();
                    if (!timed) continue;
                    times.wall.push_back(seconds(CLOCK_MONOTONIC) - wall);
                    times.busy.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - busy);
                }
                size_t hits = 0;
                for (size_t i = 0; i < found.size(); i++) hits += found[i].t < set.rays[i].t_max;
                const std::string tracer = "tinybvh " + std::to_string(count) + (count == 1 ? " thread" : " threads");
                print_row(tracer, variant, device, set, any, hits, times);
            }
}

// ---- OpenCL, opened at run time so that processors can be measured without

#define CL_FUNCTIONS(f)                                                                                                \
    f(clGetPlatformIDs) f(clGetPlatformInfo) f(clGetDeviceIDs) f(clGetDeviceInfo) f(clCreateContext)                   \
    f(clCreateCommandQueue) f(clCreateProgramWithSource) f(clBuildProgram) f(clGetProgramBuildInfo) f(clCreateKernel)  \
    f(clGetKernelWorkGroupInfo) f(clCreateBuffer) f(clReleaseMemObject) f(clReleaseKernel) f(clReleaseProgram)         \
    f(clSetKernelArg) f(clEnqueueNDRangeKernel) f(clEnqueueReadBuffer) f(clWaitForEvents) f(clReleaseEvent)            \
    f(clGetEventProfilingInfo) f(clFinish)

struct OpenCl {
#define DECLARE(name) decltype(&::name) name;
    CL_FUNCTIONS(DECLARE)
#undef DECLARE
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    std::string name, driver, source;
    bool is_nvidia = false;
};

void check(cl_int error, const char* act) {
    if (error != CL_SUCCESS) fail(std::string("OpenCL cannot ") + act + ": error " + std::to_string(error));
}

template <class Ask> std::string asked(Ask ask) {
    size_t size = 0;
    ask(0, nullptr, &size);
    std::string text(size, 0);
    ask(size, &text[0], nullptr);
    return text.substr(0, text.find('\0'));
}

/// The first device whose name or platform's name contains `wanted`.
OpenCl open_device(const std::string& wanted, const std::string& source_path) {
    OpenCl cl;
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) fail("cannot open libOpenCL.so.1: install an OpenCL loader, or leave OpenCL out");
#define LOAD(symbol)                                                                                                   \
    if (!(cl.symbol = reinterpret_cast<decltype(cl.symbol)>(dlsym(library, #symbol))))                                 \
        fail("libOpenCL.so.1 lacks " #symbol);
    CL_FUNCTIONS(LOAD)
#undef LOAD
    const auto lowered = [](std::string text) {
        for (char& c : text) c = static_cast<char>(tolower(c));
        return text;
    };
    cl_uint platforms = 0;
    cl.clGetPlatformIDs(0, nullptr, &platforms);
    std::vector<cl_platform_id> ids(platforms);
    if (platforms) check(cl.clGetPlatformIDs(platforms, ids.data(), nullptr), "list platforms");
    std::string seen;
    for (cl_platform_id platform : ids) {
        cl_uint count = 0;
        if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
        std::vector<cl_device_id> devices(count);
        check(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "list devices");
        const std::string of = asked([&](size_t n, char* p, size_t* s) {
            cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, n, p, s);
        });
        for (cl_device_id device : devices) {
            const auto info = [&](cl_device_info key) {
                return asked([&](size_t n, char* p, size_t* s) { cl.clGetDeviceInfo(device, key, n, p, s); });
            };
            const std::string name = info(CL_DEVICE_NAME);
            seen += (seen.empty() ? "" : "; ") + of + ": " + name;
            if (cl.device || lowered(of + " " + name).find(lowered(wanted)) == std::string::npos) continue;
            cl.platform = platform, cl.device = device, cl.name = name;
            cl.driver = info(CL_DRIVER_VERSION);
            cl.is_nvidia = info(CL_DEVICE_VENDOR).find("NVIDIA") != std::string::npos;
        }
    }
    if (!cl.device) fail("no OpenCL device is called " + wanted + "; present: " + (seen.empty() ? "none" : seen));
    cl_int error = 0;
    cl.context = cl.clCreateContext(nullptr, 1, &cl.device, nullptr, nullptr, &error);
    check(error, "create a context");
    cl.queue = cl.clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "create a queue");
    const std::vector<char> source = bytes_of(source_path);
    cl.source = (cl.is_nvidia ? "#define ISNVIDIA\n" : "") + std::string(source.begin(), source.end());
    return cl;
}

cl_program build_program(const OpenCl& cl, const std::string& bound) {
    const std::string fast = " -cl-strict-aliasing -cl-fast-relaxed-math -cl-single-precision-constant " + bound;
    std::string log;
    // tinybvh asks for 2.0, which devices of version 3 may lack.
    for (const char* version : {"-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CL1.2"}) {
        const char* text = cl.source.c_str();
        cl_int error = 0;
        cl_program program = cl.clCreateProgramWithSource(cl.context, 1, &text, nullptr, &error);
        check(error, "create a program");
        const std::string options = version + fast + (cl.is_nvidia ? " -cl-nv-opt-level=9" : "");
        if (cl.clBuildProgram(program, 1, &cl.device, options.c_str(), nullptr, nullptr) == CL_SUCCESS) return program;
        log = asked([&](size_t n, char* p, size_t* s) {
            cl.clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, n, p, s);
        });
        cl.clReleaseProgram(program);
    }
    say("the compiler of " + cl.name + " refuses tinybvh's kernels " + bound + ": " + log);
    return nullptr;
}

cl_mem buffer(const OpenCl& cl, cl_mem_flags flags, size_t bytes, const void* data) {
    cl_int error = 0;
    void* from = const_cast<void*>(data);
    cl_mem made = cl.clCreateBuffer(cl.context, flags | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes, from, &error);
    check(error, "create a buffer");
    return made;
}

/// A layout's buffers, in the order of its kernels' first arguments.
struct Tree {
    std::string layout;
    std::vector<cl_mem> buffers;
};

const size_t GROUPS[] = {32, 64, 128};

void time_on_device(const OpenCl& cl, const std::vector<std::pair<std::string, cl_program>>& programs, const Tree& tree,
                    const std::string& build, const std::vector<RaySet>& sets, unsigned passes) {
    for (const RaySet& set : sets) {
        const size_t count = set.rays.size();
        cl_mem rays = buffer(cl, CL_MEM_READ_ONLY, count * sizeof(DumpedRay), set.rays.data());
        cl_mem hits_buffer = buffer(cl, CL_MEM_WRITE_ONLY, count * sizeof(Found), nullptr);
        for (bool any : queries_of(set.kind))
            for (const auto& [bound, program] : programs)
                for (size_t group : GROUPS) {
                    cl_int error = 0;
                    const std::string name = (any ? "any_" : "closest_") + tree.layout;
                    cl_kernel kernel = cl.clCreateKernel(program, name.c_str(), &error);
                    check(error, "find a kernel");
                    cl_uint place = 0;
                    for (cl_mem part : tree.buffers)
                        check(cl.clSetKernelArg(kernel, place++, sizeof part, &part), "set an argument");
                    const cl_uint number = static_cast<cl_uint>(count);
                    check(cl.clSetKernelArg(kernel, place++, sizeof rays, &rays), "set an argument");
                    check(cl.clSetKernelArg(kernel, place++, sizeof hits_buffer, &hits_buffer), "set an argument");
                    check(cl.clSetKernelArg(kernel, place++, sizeof number, &number), "set an argument");
                    size_t most = 0;
                    cl.clGetKernelWorkGroupInfo(kernel, cl.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
                    if (group > most) {
                        cl.clReleaseKernel(kernel);
                        continue;
                    }
                    const size_t global = (count + group - 1) / group * group;
                    Times times;
                    const double begin = seconds(CLOCK_MONOTONIC);
                    for (unsigned pass = 0; times.wall.size() < passes; pass++) {
                        const bool timed = is_warm(pass, begin);
                        cl_event event = nullptr;
                        check(cl.clEnqueueNDRangeKernel(cl.queue, kernel, 1, nullptr, &global, &group, 0, nullptr, &event),
                              "start a kernel");
                        check(cl.clWaitForEvents(1, &event), "wait for a kernel");
                        cl_ulong start = 0, end = 0;
                        cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
                        cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
                        cl.clReleaseEvent(event);
                        if (timed) times.wall.push_back(1e-9 * static_cast<double>(end - start));
                    }
                    std::vector<Found> found(count);
                    const size_t bytes = count * sizeof(Found);
                    check(cl.clEnqueueReadBuffer(cl.queue, hits_buffer, CL_TRUE, 0, bytes, found.data(), 0, nullptr, nullptr),
                          "read hits");
                    size_t hits = 0;
                    for (size_t i = 0; i < count; i++) hits += found[i].t < set.rays[i].t_max;
                    std::string variant = tree.layout + ", " + build + ", groups of " + std::to_string(group);
                    if (!bound.empty()) variant += ", " + bound;
                    print_row("tinybvh OpenCL", variant, cl.name + ", driver " + cl.driver, set, any, hits, times);
                    cl.clReleaseKernel(kernel);
                }
        cl.clReleaseMemObject(rays);
        cl.clReleaseMemObject(hits_buffer);
    }
}

/// Optimisation as tinybvh's own speed test asks for it.
const unsigned OPTIMISATION_ROUNDS = 50;

/// A tree, which stays until the program ends.
template <class Layout>
const Layout* built(const std::vector<bvhvec4>& vertices, const std::string& name, bool optimised) {
    Layout* layout = new Layout();
    const double start = seconds(CLOCK_MONOTONIC);
    layout->BuildHQ(vertices.data(), static_cast<uint32_t>(vertices.size() / 3));
    if (optimised) layout->Optimize(OPTIMISATION_ROUNDS, true);
    say(name + (optimised ? ", optimised," : "") + " built in " + std::to_string(seconds(CLOCK_MONOTONIC) - start) + " s");
    return layout;
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, 10, "model name") == 0) return line.substr(line.find(':') + 2);
    return "processor";
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) fail("no file of triangles is named; compare.py calls this program");
    const std::vector<std::string> arguments(words + 2, words + count);
    std::vector<RaySet> sets;
    std::vector<unsigned> threads;
    std::vector<std::string> builds{"HQ", "HQ optimised"};
    std::vector<std::string> layouts{"BVH_GPU", "BVH4_GPU", "BVH8_CWBVH", "BVH4_CPU", "BVH8_CPU"};
    std::string device, source;
    unsigned passes = 9;
    for (size_t i = 0; i < arguments.size();) {
        const std::string& word = arguments[i];
        const auto value = [&](size_t offset) -> const std::string& {
            if (i + offset >= arguments.size()) fail(word + " lacks a value");
            return arguments[i + offset];
        };
        if (word == "--rays") {
            sets.push_back(rays_of(value(1), value(2))), i += 3;
        } else if (word == "--opencl") {
            device = value(1), source = value(2), i += 3;
        } else {
            if (word == "--cpu") threads.push_back(static_cast<unsigned>(std::stoul(value(1))));
            else if (word == "--builds") builds = words_of(value(1));
            else if (word == "--layouts") layouts = words_of(value(1));
            else if (word == "--passes") passes = static_cast<unsigned>(std::stoul(value(1)));
            else fail(word + " is no option");
            i += 2;
        }
    }
    const std::vector<bvhvec4> vertices = triangles_of(words[1]);
    const std::string host = processor();
    OpenCl cl;
    std::vector<std::pair<std::string, cl_program>> programs;
    if (!source.empty()) {
        cl = open_device(device, source);
        if (cl_program program = build_program(cl, "")) programs.emplace_back("", program);
        if (cl.is_nvidia)
            if (cl_program program = build_program(cl, "-cl-nv-maxrregcount=64"))
                programs.emplace_back("64 registers", program);
    }
    for (const std::string& build : builds) {
        const bool optimised = build == "HQ optimised";
        if (!optimised && build != "HQ") fail("no build is called " + build + "; there are HQ and HQ optimised");
        const auto on_device = [&](const Tree& tree) {
            time_on_device(cl, programs, tree, build, sets, passes);
            for (cl_mem part : tree.buffers) cl.clReleaseMemObject(part);
        };
        const auto read_only = [&](size_t bytes, const void* data) { return buffer(cl, CL_MEM_READ_ONLY, bytes, data); };
        if (contains(layouts, "BVH_GPU") && !programs.empty()) {
            const auto* tree = built<tinybvh::BVH_GPU>(vertices, "BVH_GPU", optimised);
            on_device({"BVH_GPU",
                       {read_only(tree->usedNodes * sizeof(tinybvh::BVH_GPU::BVHNode), tree->bvhNode),
                        read_only(tree->idxCount * sizeof(uint32_t), tree->bvh.primIdx),
                        read_only(vertices.size() * sizeof(bvhvec4), vertices.data())}});
        }
        if (contains(layouts, "BVH4_GPU") && !programs.empty()) {
            const auto* tree = built<tinybvh::BVH4_GPU>(vertices, "BVH4_GPU", optimised);
            on_device({"BVH4_GPU", {read_only(tree->usedBlocks * sizeof(bvhvec4), tree->bvh4Data)}});
        }
        if (contains(layouts, "BVH8_CWBVH") && !programs.empty()) {
            const auto* tree = built<tinybvh::BVH8_CWBVH>(vertices, "BVH8_CWBVH", optimised);
            on_device({"BVH8_CWBVH",
                       {read_only(tree->usedBlocks * sizeof(bvhvec4), tree->bvh8Data),
                        read_only(tree->idxCount * 3 * sizeof(bvhvec4), tree->bvh8Tris)}});
        }
        const auto on_cpu = [&](const auto& tree, const std::string& layout) {
            time_on_cpu(tree, layout + ", " + build, sets, threads, host, passes);
        };
        if (contains(layouts, "BVH4_CPU") && !threads.empty())
            on_cpu(*built<tinybvh::BVH4_CPU>(vertices, "BVH4_CPU", optimised), "BVH4_CPU");
        if (contains(layouts, "BVH8_CPU") && !threads.empty())
            on_cpu(*built<tinybvh::BVH8_CPU>(vertices, "BVH8_CPU", optimised), "BVH8_CPU");
    }
}
