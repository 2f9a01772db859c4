package wiretrial.subjects.grpcjava;

import io.grpc.stub.StreamObserver;
import wiretrial.EchoGrpc;
import wiretrial.EchoOuterClass.Message;

/** The four methods of the contract. */
final class Echo extends EchoGrpc.EchoImplBase {
    /** How often {@code Server} says its message. */
    private static final int REPEATED = 10;

    @Override
    public void unary(Message message, StreamObserver<Message> reply) {
        reply.onNext(message);
        reply.onCompleted();
    }

    @Override
    public void server(Message message, StreamObserver<Message> reply) {
        for (int said = 0; said < REPEATED; said++) {
            reply.onNext(message);
        }
        reply.onCompleted();
    }

    @Override
    public StreamObserver<Message> client(StreamObserver<Message> reply) {
        return new Stream(reply) {
            private Message last = Message.getDefaultInstance();

            @Override
            public void onNext(Message message) {
                last = message;
            }

            @Override
            public void onCompleted() {
                reply.onNext(last);
                reply.onCompleted();
            }
        };
    }

    @Override
    public StreamObserver<Message> bidi(StreamObserver<Message> reply) {
        return new Stream(reply) {
            @Override
            public void onNext(Message message) {
                reply.onNext(message);
            }

            @Override
            public void onCompleted() {
                reply.onCompleted();
            }
        };
    }

    /** A client's stream; where it breaks off, nobody is left to answer. */
    private abstract static class Stream implements StreamObserver<Message> {
        final StreamObserver<Message> reply;

        Stream(StreamObserver<Message> reply) {
            this.reply = reply;
        }

        @Override
        public void onError(Throwable error) {}
    }
}
