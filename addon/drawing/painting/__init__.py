"""Pictures painted on the CPU, without display, graphics card or denoiser."""
