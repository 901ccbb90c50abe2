# Sends, gathers and reduces with Rmpi, whose shared object has functions in C with the names of MPI's in Fortran.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
sum <- mpi.allreduce(rank + 1, type = 2, op = "sum", comm = 0)
word <- mpi.bcast(as.double(c(rank, 7)), type = 2, rank = 1, comm = 0)
parts <- mpi.gather(as.integer(rank * 10), type = 1, rdata = integer(size), root = 0, comm = 0)
if (rank == 0) {
    for (to in seq_len(size - 1)) mpi.send(c(to, 2.5), type = 2, dest = to, tag = 3, comm = 0)
    got <- parts
} else {
    got <- mpi.recv(double(2), type = 2, source = 0, tag = 3, comm = 0)
}
invisible(mpi.barrier(0))
writeLines(paste(c("RESULT", rank, size, sum, word, got), collapse = " "))
mpi.quit()
