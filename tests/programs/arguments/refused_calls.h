! The calls of refused_fortran.f90, for both of Fortran's older interfaces. Each gets the arguments that the caller chose, one of which is wrong.
! With all of them right, nothing waits: peers are MPI_PROC_NULL and communicators have one rank.
    if (next('Send')) then
      call MPI_Send(data, count, datatype, peer, tag, comm, code)
      call outcome(code)
    end if
    if (next('Ssend')) then
      call MPI_Ssend(data, count, datatype, peer, tag, comm, code)
      call outcome(code)
    end if
    if (next('Recv')) then
      call MPI_Recv(data, count, datatype, peer, tag, comm, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    if (next('Sendrecv')) then
      call MPI_Sendrecv(data, count, datatype, peer, tag, other, count, datatype, peer, tag, comm, status, code)
      call outcome(code)
    end if
    if (next('Probe')) then; call MPI_Probe(peer, tag, comm, status, code); call outcome(code); end if
    if (next('Iprobe')) then
      call MPI_Iprobe(peer, tag, comm, flag, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    made = MPI_REQUEST_NULL
    if (next('Isend')) then
      call MPI_Isend(data, count, datatype, peer, tag, comm, made, code)
      call finish(code)
    end if
    if (next('Irecv')) then
      call MPI_Irecv(data, count, datatype, peer, tag, comm, made, code)
      call finish(code)
    end if
    if (next('Ibarrier')) then; call MPI_Ibarrier(comm, made, code); call finish(code); end if
    if (next('Ibcast')) then
      call MPI_Ibcast(data, count, datatype, root, comm, made, code)
      call finish(code)
    end if
    if (next('Iallreduce')) then
      call MPI_Iallreduce(data, other, count, datatype, op, comm, made, code)
      call finish(code)
    end if
    if (next('Send_init')) then
      call MPI_Send_init(data, count, datatype, peer, tag, comm, made, code)
      call finish(code)
    end if
    if (next('Recv_init')) then
      call MPI_Recv_init(data, count, datatype, peer, tag, comm, made, code)
      call finish(code)
    end if
    if (next('Barrier')) then; call MPI_Barrier(comm, code); call outcome(code); end if
    if (next('Bcast')) then; call MPI_Bcast(data, count, datatype, root, comm, code); call outcome(code); end if
    if (next('Reduce')) then
      call MPI_Reduce(data, other, count, datatype, op, root, comm, code)
      call outcome(code)
    end if
    if (next('Allreduce')) then
      call MPI_Allreduce(data, other, count, datatype, op, comm, code)
      call outcome(code)
    end if
    if (next('Scan')) then
      call MPI_Scan(data, other, count, datatype, op, comm, code)
      call outcome(code)
    end if
    if (next('Gather')) then
      call MPI_Gather(data, count, datatype, other, count, datatype, root, comm, code)
      call outcome(code)
    end if
    if (next('Scatter')) then
      call MPI_Scatter(data, count, datatype, other, count, datatype, root, comm, code)
      call outcome(code)
    end if
    if (next('Allgather')) then
      call MPI_Allgather(data, count, datatype, other, count, datatype, comm, code)
      call outcome(code)
    end if
    if (next('Alltoall')) then
      call MPI_Alltoall(data, count, datatype, other, count, datatype, comm, code)
      call outcome(code)
    end if
    counts = count
    datatypes = datatype
    if (next('Gatherv')) then
      call MPI_Gatherv(data, count, datatype, other, counts, zeros, datatype, root, comm, code)
      call outcome(code)
    end if
    if (next('Allgatherv')) then
      call MPI_Allgatherv(data, count, datatype, other, counts, zeros, datatype, comm, code)
      call outcome(code)
    end if
    if (next('Alltoallv')) then
      call MPI_Alltoallv(data, counts, zeros, datatype, other, counts, zeros, datatype, comm, code)
      call outcome(code)
    end if
    if (next('Alltoallw')) then
      call MPI_Alltoallw(data, counts, zeros, datatypes, other, counts, zeros, datatypes, comm, code)
      call outcome(code)
    end if
    if (next('Reduce_scatter')) then
      call MPI_Reduce_scatter(data, other, counts, datatype, op, comm, code)
      call outcome(code)
    end if
    requests = request
    if (next('Wait')) then; call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code); call outcome(code); end if
    if (next('Test')) then
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    if (next('Waitall')) then
      call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE, code)
      call outcome(code)
    end if
    if (next('Testall')) then
      call MPI_Testall(n, requests, flag, MPI_STATUSES_IGNORE, code)
      call outcome(code)
    end if
    if (next('Waitany')) then
      call MPI_Waitany(n, requests, i, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    if (next('Testany')) then
      call MPI_Testany(n, requests, i, flag, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    if (next('Waitsome')) then
      call MPI_Waitsome(n, requests, i, at, MPI_STATUSES_IGNORE, code)
      call outcome(code)
    end if
    if (next('Testsome')) then
      call MPI_Testsome(n, requests, i, at, MPI_STATUSES_IGNORE, code)
      call outcome(code)
    end if
    if (next('Start')) then; call MPI_Start(requests(1), code); call outcome(code); end if
    if (next('Startall')) then; call MPI_Startall(n, requests, code); call outcome(code); end if
    if (next('Cancel')) then; call MPI_Cancel(requests(1), code); call outcome(code); end if
    if (next('Request_free')) then; call MPI_Request_free(requests(1), code); call outcome(code); end if
    new = MPI_COMM_NULL
    if (next('Comm_dup')) then; call MPI_Comm_dup(comm, new, code); call leave(code); end if
    if (next('Comm_split')) then; call MPI_Comm_split(comm, 0, 0, new, code); call leave(code); end if
    if (next('Cart_create')) then
      call MPI_Cart_create(comm, 1, [1], [.false.], .false., new, code)
      call leave(code)
    end if
    wrong = comm
    if (wrong /= own) then
      if (next('Comm_free')) then; call MPI_Comm_free(wrong, code); call outcome(code); end if
      if (next('Comm_disconnect')) then; call MPI_Comm_disconnect(wrong, code); call outcome(code); end if
    end if
    wrong = datatype
    if (wrong /= MPI_INTEGER) then
      if (next('Type_free')) then; call MPI_Type_free(wrong, code); call outcome(code); end if
      if (next('Type_commit')) then; call MPI_Type_commit(wrong, code); call outcome(code); end if
    end if
    if (next('Win_fence')) then; call MPI_Win_fence(0, win, code); call outcome(code); end if
    if (next('Put')) then
      call MPI_Put(data, count, datatype, peer, 0_MPI_ADDRESS_KIND, count, datatype, win, code)
      call outcome(code)
    end if
    if (next('Get')) then
      call MPI_Get(data, count, datatype, peer, 0_MPI_ADDRESS_KIND, count, datatype, win, code)
      call outcome(code)
    end if
    wrong = win
    if (wrong /= window) then
      if (next('Win_free')) then; call MPI_Win_free(wrong, code); call outcome(code); end if
    end if
    if (next('File_write')) then
      call MPI_File_write(file, data, count, datatype, status, code)
      call outcome(code)
    end if
    wrong = file
    if (wrong /= opened) then
      if (next('File_close')) then; call MPI_File_close(wrong, code); call outcome(code); end if
    end if
    got = message
    if (next('Mrecv')) then
      call MPI_Mrecv(data, count, datatype, got, MPI_STATUS_IGNORE, code)
      call outcome(code)
    end if
    got = message
    if (next('Imrecv')) then; call MPI_Imrecv(data, count, datatype, got, made, code); call finish(code); end if
