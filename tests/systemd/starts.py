"""Imitates a start of SGLang with pipeline stages, each a process: `starts.py WAY [--port N]`.

WAY is what becomes of it: `up` after all phases, `up-slow` likewise in some seconds, `raise` six stages raise and the
parent kills its tree, `exit1`, `kill9` the main process kills itself, `hang` a stage is killed and nobody says so,
`quiet` it stops saying anything, `port` its port is in use and it hangs, `end` it exits with 0 before it is ready.
Lines of a source that a traceback would show are stand-ins of this file.
"""

import http.server
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback


def value_buffer(layers, first):
    return layers[0 - first]


def say(text, label=""):
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{label}] {text}", file=sys.stderr, flush=True)


def stage(rank, way, step, up, size):
    label = f" PP{rank}"
    say("Init torch distributed begin.", label)
    time.sleep(step)
    say("Init torch distributed ends. mem usage=0.01 GB", label)
    say("Load weight begin. avail mem=78.12 GB", label)
    if way == "quiet" and rank == 5:
        time.sleep(600)
    if rank == 0:
        for done in range(5):
            print(f"Loading safetensors checkpoint shards: {25 * done:3d}% Completed | {done}/4 [00:00<00:01]",
                  file=sys.stderr, flush=True)  # fmt: skip
            time.sleep(step / 4)
    else:
        time.sleep(step)
    say("Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=70.60 GB, mem usage=7.50 GB.", label)
    say("KV Cache is allocated. #tokens: 100, K size: 1.00 GB, V size: 1.00 GB", label)
    say("Memory pool end. avail mem=17.02 GB", label)
    if way == "hang" and rank == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "raise" and rank >= size - 6:
        try:
            value_buffer([0] * 8, 8 * rank + 1)
        except IndexError:
            say("Scheduler hit an exception: " + traceback.format_exc(), label)
            os.kill(os.getppid(), signal.SIGQUIT)
        time.sleep(30)
    say("Capture cuda graph begin. This can take up to several minutes. avail mem=17.02 GB", label)
    time.sleep(step)
    say("Capture cuda graph end. Time elapsed: 1.00 s. mem usage=0.50 GB. avail mem=16.50 GB.", label)
    up.release()
    time.sleep(600)


class Handler(http.server.BaseHTTPRequestHandler):
    ready = False

    def do_GET(self):
        self.send_response(200 if self.ready else 503)
        self.end_headers()
        if self.ready:
            self.wfile.write(b'{"data": [{"id": "x"}]}')

    def log_request(self, code="-", size="-"):
        print(f'INFO:     127.0.0.1:5 - "{self.requestline}" {code}', file=sys.stderr, flush=True)


def main():
    way = sys.argv[1]
    step = 1.0 if way == "up-slow" else 0.2
    size = 8
    children = []

    def quit_all(*_):
        print("Received sigquit from a child process. It usually means the child failed.", file=sys.stderr, flush=True)
        time.sleep(0.3)
        for child in children:
            child.kill()
        os.kill(os.getpid(), signal.SIGKILL)

    say(f"server_args=ServerArgs(model_path='/models/x', tokenizer_path='/models/x', tp_size=1, pp_size={size}, "
        f"attention_backend='{os.environ.get('BACKEND', 'triton')}', nnodes=1, dp_size=1)")  # fmt: skip
    signal.signal(signal.SIGQUIT, quit_all)
    if way == "exit1":
        print("error: --tp-size: invalid int value: 'x'", file=sys.stderr, flush=True)
        sys.exit(1)
    if way == "kill9":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "end":
        sys.exit(0)
    up = multiprocessing.Semaphore(0)
    for rank in range(size):
        children.append(multiprocessing.Process(target=stage, args=(rank, way, step, up, size), daemon=True))
        children[-1].start()
    for _ in range(size):
        up.acquire()
    say("max_total_num_tokens=100, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=2")
    if way == "port":
        say(
            "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000): address already in use"
        )
        time.sleep(600)
    say("INFO:     Started server process [1]")
    say("INFO:     Waiting for application startup.")
    if "--port" in sys.argv:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    say("INFO:     Application startup complete.")
    time.sleep(step)
    say("The server is fired up and ready to roll!")
    Handler.ready = True
    time.sleep(600)


if __name__ == "__main__":
    main()
