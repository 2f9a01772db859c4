package wiretrial.subjects.web;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;

/** The database that the environment names, by JDBC. */
public final class Database {
  private Database() {}

  /** A pool of connections to it. */
  public static HikariDataSource pool() {
    URI url = URI.create(System.getenv("DATABASE_URL"));
    String[] user = url.getUserInfo().split(":");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath());
    config.setUsername(user[0]);
    config.setPassword(user[1]);
    config.setMaximumPoolSize(Integer.parseInt(System.getenv("DATABASE_POOL")));
    // A statement is prepared on the server from the first time on: the default is the fifth.
    config.addDataSourceProperty("prepareThreshold", "1");
    return new HikariDataSource(config);
  }
}
