"""Read and write question sets: releases, generated folders, named sets, own files."""
