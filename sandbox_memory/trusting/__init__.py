"""What is ours where an agent has a shell: digests and seals of lines, signatures of files, a salt, and the check."""
