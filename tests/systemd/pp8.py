"""Imitates a start of eight pipeline stages: six raise at the same instant, signal the parent, which kills its tree."""

import multiprocessing
import os
import signal
import sys
import time
import traceback


def value_buffer(layers, first):
    return layers[0 - first]


def stage(rank, go):
    def say(text):
        print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')} PP{rank}] {text}", file=sys.stderr, flush=True)

    say("Load weight begin. avail mem=78.12 GB")
    say("Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=70.60 GB, mem usage=7.50 GB.")
    say("Memory pool end. avail mem=17.02 GB")
    go.wait()
    try:
        value_buffer([0] * 8, 8 * rank)
    except IndexError:
        say("Scheduler hit an exception: " + traceback.format_exc())
        os.kill(os.getppid(), signal.SIGQUIT)
    time.sleep(30)


def main():
    def quit_all(*_):
        print("Received sigquit from a child process. It usually means the child failed.", file=sys.stderr, flush=True)
        time.sleep(0.5)
        for child in children:
            child.kill()
        os.kill(os.getpid(), signal.SIGKILL)

    go = multiprocessing.Event()
    print("server_args=ServerArgs(model_path='/models/x', pp_size=8, tp_size=1)", file=sys.stderr, flush=True)
    signal.signal(signal.SIGQUIT, quit_all)
    children = [multiprocessing.Process(target=stage, args=(rank, go)) for rank in range(8)]
    for child in children:
        child.start()
    time.sleep(0.5)
    go.set()
    time.sleep(30)


if __name__ == "__main__":
    main()
